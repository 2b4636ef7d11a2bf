"""The proof by experiment that no input is missing: a field of the input is changed, and whatever changes has it among its inputs."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.explain import Said
from grove_compiler.explain.said import scalars
from grove_compiler.graph.field_path import FieldPath, render, replace
from grove_compiler.graph.node import Node
from grove_compiler.source.document import Document

from .questions import PROGRAM, ROOT, Question, asking, example_inputs

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.stem != "nodes")
SAMPLE = 25
EVERYTHING = "GROVE_EVERY_MUTATION"
"""Set in the environment, it has every field of every example changed in every way: some minutes instead of half of one."""

WORDS = [
    {"true", "false"},
    {"replica", "scalingGroupReplica", "clique"},
    {"AllReplicas", "PerReplica"},
    {"CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"},
]
"""Texts of which one can stand for another."""


class Mutation(NamedTuple):
    """One changed scalar: the object that has it, where, what it was and is, and the inputs with it."""

    name: str
    path: FieldPath
    old: Any
    new: Any
    inputs: Inputs


def mutations(question: Question) -> Iterator[Mutation]:
    """Every field of every manifest that was put in, changed in every way."""
    explainer, inputs = question.explainer, question.inputs
    fields = [(given, path, value) for given in explainer.given for path, value in scalars(given.written)]
    texts: dict[str, set[str]] = {}
    for _, path, value in fields:
        if isinstance(value, str):
            texts.setdefault(key_of(path), set()).add(value)
    for given, path, value in fields:
        if not is_identity(path, given.is_snapshot):
            for new in others(value, texts):
                changed = with_change(inputs, given.written, given.document, (*given.at, *path), path, new)
                yield Mutation(given.id, path, value, new, changed)


def is_identity(path: FieldPath, is_live: bool) -> bool:
    """Whether a field says which object it is. One that exists is found by its name and its owner: with others it is not that object."""
    return path[0] in ("apiVersion", "kind") or (
        is_live and path[0] == "metadata" and path[1] in ("name", "namespace", "uid", "ownerReferences")
    )


def key_of(path: FieldPath) -> str:
    """The last name of a path: items of a list are told by the list's."""
    return str(next(step for step in reversed(path) if isinstance(step, str)))


def others(value: Any, texts: dict[str, set[str]]) -> list[Any]:
    """Values that could stand in place of one: a reference may name something else that there is."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if not isinstance(value, str):
        return []
    words = {word for words in [*texts.values(), *WORDS] if value in words for word in words}
    return [f"{value}x", *sorted(words - {value})[:6]]


def with_change(inputs: Inputs, manifest: Any, document: Document | None, at: FieldPath, path: FieldPath, new: Any) -> Inputs:
    documents = [changed_document(one, at, new) if one is document else one for one in inputs.documents]
    config = changed_document(document, at, new) if document is not None and document is inputs.config else inputs.config
    snapshot = [replace(one, path, new) if one is manifest else one for one in inputs.snapshot]
    return Inputs(documents, snapshot, [], config, inputs.settings)


def changed_document(document: Document, at: FieldPath, new: Any) -> Document:
    return Document(replace(document.value, at, new), document.file, document.index, document.line, document.origin)


def inputs_of_fields(question: Question) -> dict[tuple[str, FieldPath], set[tuple[str, FieldPath]]]:
    """By object and path, what `explain` names as inputs: the object and the path of each."""
    found = {}
    for node in question.result.graph.nodes:
        for path, field in question.explainer.object(node).trace.fields.items():
            said = [question.explainer.said(one) for one in (*field.sources[0], *field.passed)]
            found[node.id, path] = {one for each in said for one in flat(each)}
    return found


def flat(said: Said) -> Iterator[tuple[str, FieldPath]]:
    """An input, and all that a default found it from."""
    yield said.name, said.path
    for one in said.inputs:
        yield from flat(one)


def lists_in(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, list[Any]]]:
    """Every list, with its path."""
    if isinstance(value, list):
        yield path, value
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from lists_in(part, (*path, key))


def has_moved(old: list[Any], new: list[Any]) -> bool:
    """Whether other items stand at the same places: there are more or fewer, or one stands elsewhere."""
    return len(old) != len(new) or any(item not in (old[at], None) and item in old for at, item in enumerate(new))


def differing(before: Node, after: Node) -> list[FieldPath]:
    """The fields that differ, apart from those of lists whose items have moved: explain does not say why an item stands where it does."""
    old, new = dict(scalars(before.object)), dict(scalars(after.object))
    first, second = dict(lists_in(before.object)), dict(lists_in(after.object))
    moved = [path for path in {*first, *second} if has_moved(first.get(path, []), second.get(path, []))]
    both = [path for path in old if path in new and old[path] != new[path]]
    return [path for path in both if not any(path[: len(one)] == one for one in moved)]


def missing(question: Question, sample: int | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Where `explain` is wrong: the input that was changed, the object, the change, and the field that it does not know to rest on it."""
    known = inputs_of_fields(question)
    nodes = {node.id: node for node in question.result.graph.nodes}
    changes = list(mutations(question))
    for one in random.Random(1).sample(changes, min(sample or len(changes), len(changes))):
        for node in compile_inputs(one.inputs, PROGRAM).graph.nodes:
            if node.id in nodes and nodes[node.id].rule == node.rule:
                for path in differing(nodes[node.id], node):
                    if not any(name == one.name and one.path[: len(read)] == read for name, read in known[node.id, path]):
                        yield f"{one.name} {render(one.path)}", node.id, f"{one.old} -> {one.new}", render(path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_whatever_a_change_of_the_input_changes_has_the_changed_field_among_its_inputs(example: Path) -> None:
    inputs, reader = example_inputs(example)
    with asking(inputs, reader.snapshot_documents) as question:
        assert list(missing(question, None if os.environ.get(EVERYTHING) else SAMPLE)) == []
