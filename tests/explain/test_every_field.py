"""Every field of every object of the examples has a rule and its inputs, and no input is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.tracing.provenance import Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Said
from grove_compiler.explain.said import scalars
from grove_compiler.graph.field_path import FieldPath, render, replace
from grove_compiler.graph.node import Node
from grove_compiler.source.document import Document

from .questions import PROGRAM, ROOT, SOURCES, asking, example_inputs

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.stem != "nodes")
LINES = {source.file: source.text.split("\n") for source in SOURCES}
RULES = {rule.id: rule for rule in PROGRAM.rules}


class Field(NamedTuple):
    """A field of an object, what made it, and who says its inputs."""

    node: Node
    path: FieldPath
    found: Traced
    said: list[Said]
    passed: list[Said]


class Asked(NamedTuple):
    """An example, and all that could be asked about it."""

    inputs: Inputs
    nodes: list[Node]
    fields: list[Field]


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem, scope="module")
def asked(request: pytest.FixtureRequest) -> Asked:
    inputs, reader = example_inputs(request.param)
    with asking(inputs, reader.snapshot_documents) as question:
        fields = [
            Field(node, path, found, *([question.explainer.said(one) for one in inputs] for inputs in (found.sources[0], found.passed)))
            for node in question.result.graph.nodes
            for path, found in question.explainer.object(node).trace.fields.items()
        ]
    return Asked(inputs, question.result.graph.nodes, fields)


def test_exactly_the_fields_of_the_objects_are_traced_with_their_values(asked: Asked) -> None:
    traced: dict[str, dict[FieldPath, Any]] = {node.id: {} for node in asked.nodes}
    for field in asked.fields:
        traced[field.node.id][field.path] = plain(field.found.value)
    assert traced == {node.id: dict(scalars(node.object)) for node in asked.nodes}


def test_every_field_has_a_rule_with_documentation(asked: Asked) -> None:
    assert [name(field) for field in asked.fields if not RULES[field.found.rule].doc] == []


def test_every_field_has_a_line_that_exists(asked: Asked) -> None:
    assert [name(field) for field in asked.fields if not text_at(field, 1)[0].strip()] == []


def test_the_line_of_a_field_begins_what_its_expression_says(asked: Asked) -> None:
    said = [(field, field.found.origin.expression.split("\n")[0][:20]) for field in asked.fields]
    assert [name(field) for field, words in said if not any(words in line for line in text_at(field, 3))] == []


def test_every_field_that_an_expression_made_has_inputs(asked: Asked) -> None:
    assert [name(field) for field in asked.fields if field.found.names and not field.said] == []


def test_a_constant_has_none(asked: Asked) -> None:
    assert [name(field) for field in asked.fields if not field.found.origin.expression and field.said] == []


def test_every_input_has_somebody_who_says_it(asked: Asked) -> None:
    said = {id(one): one for field in asked.fields for one in field.said}
    assert [one for one in said.values() if not one.line and one.how not in ("setting", "configuration")] == []


def test_a_field_that_was_copied_has_the_value_of_its_input(asked: Asked) -> None:
    copied = [field for field in asked.fields if field.found.sources[1]]
    assert [name(field) for field in copied if [plain(one.value) for one in field.said] != [plain(field.found.value)]] == []


def name(field: Field) -> tuple[str, str]:
    """How to look for a field: its object and its path."""
    return field.node.id, render(field.path)


def text_at(field: Field, count: int) -> list[str]:
    """The first lines at a field's origin."""
    return LINES[field.found.origin.file][field.found.origin.line - 1 :][:count]


def flat(said: Said) -> Iterator[FieldPath]:
    """The paths of an input, and of all that a default found it from."""
    yield said.path
    for one in said.inputs:
        yield from flat(one)


def lengths(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, int]]:
    """How long each list is."""
    if isinstance(value, list):
        yield path, len(value)
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from lengths(part, (*path, key))


def changed(value: Any) -> Any:
    """Another value of the same type; none for what has no other."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x" if isinstance(value, str) else None


def changed_inputs(inputs: Inputs) -> Iterator[tuple[FieldPath, Inputs]]:
    """The inputs with one field of the user's changed, for each field."""
    for number, document in enumerate(inputs.documents):
        for path, value in scalars(document.value):
            if path and path[0] not in ("apiVersion", "kind") and changed(value) is not None:
                documents = list(inputs.documents)
                new = replace(document.value, path, changed(value))
                documents[number] = Document(new, document.file, document.index, document.line, document.origin)
                yield path, Inputs(documents, inputs.snapshot, [], inputs.config, inputs.settings)


def differing(before: Node, after: Node) -> list[FieldPath]:
    """The fields that differ, apart from those of lists that became longer or shorter: there, others stand at the same place."""
    old, new = dict(scalars(before.object)), dict(scalars(after.object))
    first, second = dict(lengths(before.object)), dict(lengths(after.object))
    moved = [path for path in {*first, *second} if first.get(path) != second.get(path)]
    both = [path for path in old if path in new and old[path] != new[path]]
    return [path for path in both if not any(path[: len(one)] == one for one in moved)]


def test_whoever_changes_a_field_of_an_object_is_among_its_inputs(asked: Asked) -> None:
    """The proof by experiment: each field of the user's files is changed in turn, and everything compiled again."""
    known = {(field.node.id, field.path): [path for said in field.said + field.passed for path in flat(said)] for field in asked.fields}
    nodes = {node.id: node for node in asked.nodes}
    missing = [
        (render(path), node.id, render(field))
        for path, inputs in changed_inputs(asked.inputs)
        for node in compile_inputs(inputs, PROGRAM).graph.nodes
        if node.id in nodes and nodes[node.id].rule == node.rule
        for field in differing(nodes[node.id], node)
        if not any(path[: len(read)] == read for read in known[node.id, field])
    ]
    assert missing == []


def test_examples_are_there() -> None:
    assert Path(ROOT / "examples" / "minimal.yaml") in EXAMPLES
