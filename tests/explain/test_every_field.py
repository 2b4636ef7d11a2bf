"""Every field of every object of the examples has a rule and its inputs, and no input is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grove_compiler.compile import Inputs
from grove_compiler.engine.tracing.provenance import Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import InputSource
from grove_compiler.explain.input_source import scalars
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.node import Node

from .questions import PROGRAM, ROOT, SOURCES, asking, example_inputs

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.stem != "nodes")
LINES = {source.file: source.text.split("\n") for source in SOURCES}
RULES = {rule.id: rule for rule in PROGRAM.rules}

WHO_ASKS = "settings.is_operator"
"""Read by expressions, and nobody's to choose: no option and no line says it, so it is no input."""


class Field(NamedTuple):
    """A field of an object, what made it, and who says its inputs."""

    node: Node
    path: FieldPath
    found: Traced
    sources: list[InputSource]
    passed: list[InputSource]


class Asked(NamedTuple):
    """An example, and all that could be asked about it."""

    inputs: Inputs
    nodes: list[Node]
    fields: list[Field]


# Each in one process: it takes longer to ask about an example than all that is checked of the answers.
@pytest.fixture(
    params=[pytest.param(path, id=path.stem, marks=pytest.mark.xdist_group(f"fields of {path.stem}")) for path in EXAMPLES], scope="module"
)
def asked(request: pytest.FixtureRequest) -> Asked:
    inputs, reader = example_inputs(request.param)
    with asking(inputs, reader.snapshot_documents) as question:
        fields = [
            Field(
                node, path, found, *([question.explainer.source_of(one) for one in inputs] for inputs in (found.sources[0], found.passed))
            )
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
    written = [(field, field.found.origin.expression.split("\n")[0][:20]) for field in asked.fields]
    assert [name(field) for field, words in written if not any(words in line for line in text_at(field, 3))] == []


def test_every_field_that_an_expression_made_has_inputs(asked: Asked) -> None:
    made = [field for field in asked.fields if field.found.names and WHO_ASKS not in field.found.origin.expression]
    assert [name(field) for field in made if not field.sources] == []


def test_a_constant_has_none(asked: Asked) -> None:
    assert [name(field) for field in asked.fields if not field.found.origin.expression and field.sources] == []


def test_every_input_has_somebody_who_says_it(asked: Asked) -> None:
    sources = {id(one): one for field in asked.fields for one in field.sources}
    assert [one for one in sources.values() if not one.line and one.kind not in ("setting", "configuration")] == []


def test_a_field_that_was_copied_has_the_value_of_its_input(asked: Asked) -> None:
    copied = [field for field in asked.fields if field.found.sources[1]]
    assert [name(field) for field in copied if [plain(one.value) for one in field.sources] != [plain(field.found.value)]] == []


def name(field: Field) -> tuple[str, str]:
    """How to look for a field: its object and its path."""
    return field.node.id, render(field.path)


def text_at(field: Field, count: int) -> list[str]:
    """The first lines at a field's origin."""
    return LINES[field.found.origin.file][field.found.origin.line - 1 :][:count]


def test_examples_are_there() -> None:
    assert Path(ROOT / "examples" / "minimal.yaml") in EXAMPLES
