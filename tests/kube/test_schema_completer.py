"""The one walk for sound values: it says of each value what the structural check and the defaults say, or nothing at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.schema_completer import SchemaCompleter
from grove_compiler.kube.structure import Schema, check
from grove_compiler.kube.structure_findings import MAX_ITEMS
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from tests.suite.rows import rows

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "examples").glob("*.yaml")), *sorted((ROOT / "tests/validation/cases").glob("*/*.yaml"))]
SOUND = SchemaCompleter(DEFINITIONS)
OWN: dict[str, Schema] = {
    "Set": {
        "kind": "object",
        "fields": {
            "name": {"kind": "string", "min_length": 1},
            "type": {"kind": "string", "enum": ["a", "b"], "default": "a"},
            "count": {"kind": "integer", "bits": 32, "minimum": 0},
            "words": {"kind": "list", "items": {"kind": "string"}, "set": True, "max_items": 2},
            "ports": {"kind": "list", "items": {"ref": "Port"}, "keys": ["port", "protocol"]},
            "labels": {"kind": "map", "values": {"kind": "string"}},
            "free": {"kind": "map"},
            "any": {"kind": "any"},
            "more": {"kind": "object", "fields": {}, "unknown": "keep"},
            "below": {"ref": "Port", "default": {"port": 1}},
        },
        "required": ["name"],
    },
    "Port": {"kind": "object", "fields": {"port": {"kind": "integer"}, "protocol": {"kind": "string", "default": "TCP"}}},
}
PARTS = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from([1.0, 1.5, 2**31]) | st.text("ab", max_size=1)
ITEMS = PARTS | st.dictionaries(st.sampled_from(["port", "protocol", "a"]) | st.integers(0, 1), PARTS, max_size=3)
ANYTHING = ITEMS | st.lists(ITEMS, max_size=3)
SETS = st.dictionaries(st.sampled_from([*OWN["Set"]["fields"], "unknown"]), ANYTHING, max_size=5).map(lambda one: {"name": "a", **one})


def documents() -> Iterator[Any]:
    """Each document of a kind that we know, in examples and in cases of validation: right ones, and some with a fault."""
    for file in FILES:
        read, _ = read_text(file.read_text(encoding="utf-8"), file.name)
        for number, document in enumerate(read):
            value = document.value
            if isinstance(value, dict) and (value.get("apiVersion"), value.get("kind")) in KINDS:
                yield pytest.param(document, id=f"{file.parent.name}/{file.stem}-{number}")


@rows("document", documents)
def test_a_document_is_completed_if_the_check_finds_nothing_and_as_the_defaults_have_it(document: Document) -> None:
    value, schema = document.value, KINDS[document.value["apiVersion"], document.value["kind"]]
    before = copy.deepcopy(value)
    expected = None if check(value, schema, DEFINITIONS) else apply_defaults(value, schema, DEFINITIONS)
    assert _written(SOUND.completed(value, schema["ref"])) == _written(expected)
    assert value == before


@given(SETS)
def test_whatever_a_value_is_it_is_completed_rightly_or_left(value: Any) -> None:
    completed = SchemaCompleter(OWN).completed(value, "Set")
    if completed is not None:
        assert check(value, {"ref": "Set"}, OWN) == []
        assert _written(completed) == _written(apply_defaults(value, {"ref": "Set"}, OWN))


@pytest.mark.parametrize(
    "value",
    [
        {"name": "a"},
        {"name": "a", "type": None, "count": None, "any": None, "more": {"x": None}, "labels": {"a": None}},
        {"name": "a", "words": ["a", "b"], "ports": [{"port": 1}, {"port": 1, "protocol": "UDP"}], "free": {"a": [None]}},
    ],
)
def test_a_sound_value_is_completed(value: Any) -> None:
    assert _written(SchemaCompleter(OWN).completed(value, "Set")) == _written(apply_defaults(value, {"ref": "Set"}, OWN))


@rows(
    "wrong",
    [
        {"name": 1}, {"name": ""}, {"name": None}, {"type": "c"}, {"type": 1}, {"count": -1}, {"count": 2**31}, {"count": True},
        {"words": ["a", "a"]}, {"words": ["a", "b", "c"]}, {"words": [None]}, {"words": "a"},
        {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}, {"ports": [[]]}, {"below": 1},
        {"labels": {1: "a"}}, {"labels": {"a": 1}}, {"labels": []}, {"free": {1: 1}}, {"unknown": 1}, {"unknown": None}, {1: 1},
        {"labels": {str(number): "a" for number in range(MAX_ITEMS + 1)}},
        {"ports": [{"port": number} for number in range(MAX_ITEMS + 1)]},
    ],
    ids=lambda wrong: json.dumps(wrong)[:40],
)  # fmt: skip
def test_what_may_be_wrong_is_left_to_the_check(wrong: Any) -> None:
    assert SchemaCompleter(OWN).completed({"name": "a", **wrong}, "Set") is None


def test_what_needs_no_default_is_shared() -> None:
    value = {"name": "a", "type": "b", "below": {"port": 1, "protocol": "TCP"}, "ports": [{"port": 1}]}
    completed = SchemaCompleter(OWN).completed(value, "Set")
    assert completed["below"] is value["below"]
    assert SchemaCompleter(OWN).completed(completed, "Set") is completed


@rows("name", [schema["ref"] for schema in KINDS.values()])
def test_no_structure_contains_itself_for_then_a_walk_would_have_no_end(name: str) -> None:
    assert _deepest(name) < 30


def _deepest(name: str, above: tuple[str, ...] = ()) -> int:
    assert name not in above
    return 1 + max((_deepest(below, (*above, name)) for below in _refs(DEFINITIONS[name])), default=0)


def _refs(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        return ({schema["ref"]} if isinstance(schema.get("ref"), str) else set()).union(*map(_refs, schema.values()))
    return set[str]().union(*map(_refs, schema)) if isinstance(schema, list) else set()


def _written(value: Any) -> str:
    """With the order of its keys, and with 1 and True told apart."""
    return json.dumps(value)
