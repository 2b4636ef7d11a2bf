"""Which lines of the input stand behind each field of each object, as `grove explain` says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node

if TYPE_CHECKING:
    from grove_compiler.engine.tracing.tracking import Input
    from grove_compiler.explain import Explainer

MOST_PLACES = 3
"""So many places are named beside a line; `grove explain` names all."""

Lines = dict[FieldPath, str]


def find_lines(nodes: Iterable[Node], explainer: Explainer) -> Iterator[tuple[str, Lines]]:
    """Yields the id of each object with its fields' places, such as `set.yaml:31, :40`. One object takes 10 to 20 ms.

    A field's places are those of the inputs that its value is made of. What decides that it is there is told by `grove explain` alone:
    beside every line it would be half of the file.
    """
    for node in nodes:
        fields = explainer.object(node).trace.fields
        yield node.id, {path: text for path, field in fields.items() if (text := _places(explainer, field.sources[0]))}


def _places(explainer: Explainer, inputs: Iterable[Input]) -> str:
    """Returns where inputs stand in files, in order; a file's name is not said twice in a row."""
    sources = (source for one in inputs for source in explainer.source_of(one).all())
    named = sorted({(source.file, source.line) for source in sources if source.file and source.line})
    before = ["", *(file for file, _ in named)]
    texts = [f":{line}" if file == last else f"{file}:{line}" for (file, line), last in zip(named, before, strict=False)]
    rest = f" and {len(texts) - MOST_PLACES} more" if len(texts) > MOST_PLACES else ""
    return ", ".join(texts[:MOST_PLACES]) + rest
