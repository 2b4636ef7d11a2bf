"""Writing JSON: kubectl's layout, and that the standard library reads the same values."""

from __future__ import annotations

import json
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.json_reader import read_json
from grove_compiler.source.json_writer import write_json
from tests.suite.rows import rows


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


def test_one_object_stands_alone() -> None:
    assert write_json([{"a": {"b": [1, "x"]}, "c": {}}]) == (
        '{\n    "a": {\n        "b": [\n            1,\n            "x"\n        ]\n    },\n    "c": {}\n}\n'
    )


def test_several_objects_are_a_list_as_kubectl_prints_it() -> None:
    text = write_json([{"a": 1}, {"b": 2}])
    assert text.startswith('{\n    "apiVersion": "v1",\n    "items": [\n        {\n            "a": 1\n        },\n        {')
    assert json.loads(text) == {"apiVersion": "v1", "items": [{"a": 1}, {"b": 2}], "kind": "List"}


def test_no_objects_are_an_empty_list() -> None:
    assert json.loads(write_json([])) == {"apiVersion": "v1", "items": [], "kind": "List"}


LAYOUTS: list[tuple[Any, str]] = [
    ({}, "{}"),
    ([], "[]"),
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (3, "3"),
    (1.5, "1.5"),
    ("é😀", '"é😀"'),
    ('"\\\n\x00', '"\\"\\\\\\n\\u0000"'),
    ("\ud800", '"\N{REPLACEMENT CHARACTER}"'),
    ({"\udc00": 1}, '{\n    "\N{REPLACEMENT CHARACTER}": 1\n}'),
    ([1, []], "[\n    1,\n    []\n]"),
    ((1,), "[\n    1\n]"),
    ([(), OrderedDict(), OrderedDict(a=1)], '[\n    [],\n    {},\n    {\n        "a": 1\n    }\n]'),
    ([Colour.RED, Size.BIG], '[\n    "red",\n    3\n]'),
    ({"a": Colour.RED, "b": Size.BIG, "c": (1,)}, '{\n    "a": "red",\n    "b": 3,\n    "c": [\n        1\n    ]\n}'),
]


@rows(("value", "text"), LAYOUTS)
def test_values_are_laid_out(value: Any, text: str) -> None:
    assert write_json([value]) == text + "\n"


@pytest.mark.parametrize("key", [1, True, None, ("a",)])
def test_a_key_that_is_not_text_is_refused(key: Any) -> None:
    with pytest.raises(TypeError, match="a key must be text"):
        write_json([{key: 1}])


@pytest.mark.parametrize("value", [object(), {1}, b"bytes"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be written"):
        write_json([{"a": [value]}])


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_numbers_that_json_cannot_hold_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a number that JSON can hold"):
        write_json([value])


@pytest.mark.parametrize("container", [{}, []])
def test_a_value_that_contains_itself_is_refused(container: Any) -> None:
    if isinstance(container, dict):
        container["a"] = container
    else:
        container.append(container)
    with pytest.raises(ValueError, match="containing itself"):
        write_json([container])


def test_the_deepest_value_that_the_reader_lets_in_is_read_back() -> None:
    text = "[" * 100 + "]" * 100
    (document,), _ = read_json(text, "")
    assert read_json(write_json([document.value]), "")[0][0].value == document.value


def test_a_part_shared_at_several_depths_is_indented_for_each() -> None:
    part = {"x": [1, {"y": 2}]}
    objects = [{"a": part, "b": {"c": part}, "d": [part, [part]]}, {"e": part["x"]}]
    assert write_json(objects) == json.dumps({"apiVersion": "v1", "items": objects, "kind": "List"}, indent=4) + "\n"


TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(min_value=-1e15, max_value=1e15) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_is_what_the_standard_library_reads(value: Any) -> None:
    assert json.loads(write_json([value])) == value


@given(st.dictionaries(TEXTS, st.lists(st.integers() | TEXTS)))
def test_any_value_without_floats_is_written_as_the_standard_library_does(value: Any) -> None:
    assert write_json([value]) == json.dumps(value, indent=4, ensure_ascii=False) + "\n"


@given(st.dictionaries(st.text(), st.text()))
def test_any_text_with_half_characters_is_written(value: dict[str, str]) -> None:
    json.loads(write_json([value]).encode())
