"""What is said about a field fits on a screen, and yet every line that decides it is among what is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grove_cli.explain.as_text import field_text
from grove_cli.explain.words import Words
from grove_compiler.explain import ObjectAnswer
from grove_compiler.graph.field_path import FieldPath, render

from .questions import BOOK, Question, asking, example_inputs
from .test_mutations import EXAMPLES

MAX_LINES = 40
_PLACES = re.compile(r"(?P<file>[\w./-]+\.yaml)?:(?P<first>\d+)(?:-(?P<last>\d+))?")


def kinds_of_fields(question: Question) -> Iterator[tuple[ObjectAnswer, FieldPath]]:
    """One field of each path and kind, the indices of lists left aside: the others of its kind are made by the same line."""
    seen = set()
    for node in question.result.graph.nodes:
        answer = question.explainer.object(node)
        for path in answer.trace.fields:
            sort = node.object["kind"], node.rule, tuple("" if isinstance(step, int) else step for step in path)
            if sort not in seen:
                seen.add(sort)
                yield answer, path


def lines_named(text: str) -> set[tuple[str, int]]:
    """The lines of files that a text names, also those in ranges; a line without a file is in the file before."""
    found, file = set(), ""
    for place in _PLACES.finditer(text):
        file = place["file"] or file
        first = int(place["first"])
        found |= {(file, line) for line in range(first, int(place["last"] or first) + 1)}
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_answer_about_a_field_takes_few_lines_and_names_every_line_that_decides_it(example: Path) -> None:
    inputs, reader = example_inputs(example)
    with asking(inputs, reader.snapshot_documents) as question:
        words = Words(question.explainer, BOOK)
        for answer, path in kinds_of_fields(question):
            text = field_text(answer, path, words)
            said = [one for read in answer.inputs_of(path) for one in question.explainer.source_of(read).all()]
            deciding = {(one.file, one.line) for one in said if one.line and one.kind in ("file", "snapshot") and not one.rule}
            assert (answer.node.id, render(path), deciding - lines_named(text)) == (answer.node.id, render(path), set())
            assert len(text.splitlines()) <= MAX_LINES, f"{answer.node.id} {render(path)}\n{text}"
