from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube.defaults import apply_defaults
from tests.suite.rows import rows

STRING = {"kind": "string"}
PORT: dict[str, Any] = {"kind": "object", "fields": {"port": {"kind": "integer"}, "protocol": {**STRING, "default": "TCP"}}}
SCHEMA: dict[str, Any] = {
    "kind": "object",
    "fields": {
        "name": STRING,
        "size": {"kind": "integer", "default": 1},
        "flag": {"kind": "boolean", "default": False},
        "ports": {"kind": "list", "items": {"ref": "Port"}},
        "byName": {"kind": "map", "values": {"ref": "Port"}},
        "labels": {"kind": "map", "values": STRING},
        "open": {"kind": "map"},
        "anything": {"kind": "any"},
        "section": {"ref": "Port", "default": {}},
        "optional": {"ref": "Port"},
    },
}
DEFINITIONS = {"Port": PORT}
WHOLE: dict[str, Any] = {"size": 2, "flag": True, "section": {"protocol": "UDP"}}
"""A value to which there is nothing to add."""

CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an absent field gets its default": ({}, {"size": 1, "flag": False, "section": {"protocol": "TCP"}}),
    "null counts as absent where there is a default": ({**WHOLE, "size": None}, {**WHOLE, "size": 1}),
    "null without a default is dropped": ({**WHOLE, "name": None}, WHOLE),
    "zero, false and the empty string are values": ({**WHOLE, "size": 0, "flag": False}, {**WHOLE, "size": 0, "flag": False}),
    "an object that is there gets its defaults": ({**WHOLE, "optional": {}}, {**WHOLE, "optional": {"protocol": "TCP"}}),
    "an object that is not there is not made": (WHOLE, WHOLE),
    "a null object without a default is not made": ({**WHOLE, "optional": None}, WHOLE),
    "items of a list get theirs": (
        {**WHOLE, "ports": [{"port": 1}, {"protocol": "UDP"}]},
        {**WHOLE, "ports": [{"port": 1, "protocol": "TCP"}, {"protocol": "UDP"}]},
    ),
    "values of a map get theirs": ({**WHOLE, "byName": {"a": {}}}, {**WHOLE, "byName": {"a": {"protocol": "TCP"}}}),
    "null in a list stays": ({**WHOLE, "ports": [None, {}]}, {**WHOLE, "ports": [None, {"protocol": "TCP"}]}),
    "null in a map is dropped": ({**WHOLE, "labels": {"a": None, "b": "c"}}, {**WHOLE, "labels": {"b": "c"}}),
    "null in a free map stays": ({**WHOLE, "open": {"a": None}}, {**WHOLE, "open": {"a": None}}),
    "unknown fields stay as they are": ({**WHOLE, "other": {"a": None}}, {**WHOLE, "other": {"a": None}}),
    "what may be anything stays as it is": ({**WHOLE, "anything": {"protocol": None}}, {**WHOLE, "anything": {"protocol": None}}),
    "a default object has its own defaults": ({**WHOLE, "section": None}, {**WHOLE, "section": {"protocol": "TCP"}}),
    "a wrong type is left to the check": ({**WHOLE, "ports": {"port": None}}, {**WHOLE, "ports": {"port": None}}),
}


def defaulted(value: Any) -> Any:
    return apply_defaults(value, SCHEMA, DEFINITIONS)


@rows(("value", "expected"), CASES.values(), ids=CASES)
def test_defaults(value: Any, expected: Any) -> None:
    assert defaulted(value) == expected


@rows("value", [expected for _, expected in CASES.values()], ids=CASES)
def test_a_value_that_needs_nothing_is_the_same_object(value: Any) -> None:
    assert defaulted(value) is value


@pytest.mark.parametrize("value", [None, 1, "text", True, ["a", None]])
def test_what_is_no_object_comes_back_as_it_is(value: Any) -> None:
    assert defaulted(value) is value


def test_parts_that_need_nothing_are_shared() -> None:
    value: dict[str, Any] = {**WHOLE, "labels": {"a": "b"}, "ports": [{"protocol": "UDP"}, {}]}
    result = defaulted(value)
    assert result["labels"] is value["labels"]
    assert result["ports"][0] is value["ports"][0]
    assert result["ports"][1] is not value["ports"][1]


def test_fields_keep_their_order_and_defaults_come_last() -> None:
    assert list(defaulted({"section": {}, "size": None, "name": "a"})) == ["section", "size", "name", "flag"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SCHEMA["fields"], *PORT["fields"]]), inner),
    max_leaves=20,
)


@given(values)
def test_nothing_is_changed_in_place(value: Any) -> None:
    before, tables = copy.deepcopy(value), copy.deepcopy((SCHEMA, DEFINITIONS))
    defaulted(value)
    assert (value, (SCHEMA, DEFINITIONS)) == (before, tables)


@given(values)
def test_applying_them_again_changes_nothing(value: Any) -> None:
    once = defaulted(value)
    assert defaulted(once) is once
