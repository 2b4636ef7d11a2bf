"""Writing YAML: the layout, what is refused, and that shared parts change nothing."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import iter_yaml, write_yaml
from tests.suite.effort import runs
from tests.suite.rows import rows

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a-0", "labels": {"grove.io/podgang": "a", "on": "yes"}, "annotations": {}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "args": ["--index", "0", "a b"],
                "command": [],
                "env": [{"name": "A", "value": "1"}, {"name": "SCRIPT", "value": "set -e\nrun\n"}],
                "resources": {"limits": {"nvidia.com/gpu": 8}},
                "stdin": True,
            }
        ],
        "nodeName": None,
        "priority": -1,
    },
}
POD_TEXT = """\
apiVersion: v1
kind: Pod
metadata:
  name: a-0
  labels:
    grove.io/podgang: a
    "on": "yes"
  annotations: {}
spec:
  containers:
  - name: main
    args:
    - --index
    - "0"
    - a b
    command: []
    env:
    - name: A
      value: "1"
    - name: SCRIPT
      value: |
        set -e
        run
    resources:
      limits:
        nvidia.com/gpu: 8
    stdin: true
  nodeName: null
  priority: -1
"""


def test_an_object_is_laid_out_as_kubectl_does() -> None:
    assert write_yaml([POD]) == POD_TEXT


def test_documents_have_a_separator_between_them() -> None:
    assert write_yaml([{"a": 1}, {"b": 2}, {"c": 3}]) == "a: 1\n---\nb: 2\n---\nc: 3\n"


def test_no_objects_are_no_text() -> None:
    assert write_yaml([]) == ""


def test_the_documents_one_at_a_time_make_the_whole_text() -> None:
    assert list(iter_yaml([{"a": 1}, {"b": 2}])) == ["a: 1\n", "---\nb: 2\n"]


def test_the_first_document_is_there_before_the_second_object_is_made() -> None:
    def objects() -> Iterator[Any]:
        yield {"a": 1}
        raise AssertionError("asked too early")

    assert next(iter_yaml(objects())) == "a: 1\n"


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


class Word(str):
    """A subclass of text."""


LAYOUTS: list[tuple[Any, str]] = [
    ({}, "{}\n"),
    ([], "[]\n"),
    (None, "null\n"),
    ("a", "a\n"),
    ("a\nb", "|-\n  a\n  b\n"),
    ("a\n\n", "|+\n  a\n\n"),
    (3, "3\n"),
    (True, "true\n"),
    ([1, [2, [3]], {"a": 1}], "- 1\n- - 2\n  - - 3\n- a: 1\n"),
    ([["a\nb\n"]], "- - |\n    a\n    b\n"),
    ({"a": [[1, 2], [3]]}, "a:\n- - 1\n  - 2\n- - 3\n"),
    ({"a": [{"b": [{"c": 1, "d": 2}]}]}, "a:\n- b:\n  - c: 1\n    d: 2\n"),
    ({"a": {}, "b": [], "c": [{}, []]}, "a: {}\nb: []\nc:\n- {}\n- []\n"),
    ({"a": "x\n\n", "b": 1}, "a: |+\n  x\n\nb: 1\n"),
    ({"a": (1, 2), "b": ()}, "a:\n- 1\n- 2\nb: []\n"),
    ((1, (2,)), "- 1\n- - 2\n"),
    ({"a": OrderedDict(b=1), "c": OrderedDict()}, "a:\n  b: 1\nc: {}\n"),
    ({"a": Colour.RED, "b": Size.BIG, "c": Word("yes"), "d": [Size.BIG, Word("yes")]}, 'a: red\nb: 3\nc: "yes"\nd:\n- 3\n- "yes"\n'),
    ({"a": 1.5, "b": 1.0, "c": 1e20, "d": 1e-7, "e": -1.5e300}, "a: 1.5\nb: 1.0\nc: 1.0e+20\nd: 1.0e-07\ne: -1.5e+300\n"),
    ({"a": 10**30}, f"a: {10**30}\n"),
    ({"": 1, "a b": 2, "a: b": 3, "1": 4, "\n": 5}, '"": 1\na b: 2\n"a: b": 3\n"1": 4\n"\\n": 5\n'),
]


@rows(("value", "text"), LAYOUTS)
def test_values_are_laid_out(value: Any, text: str) -> None:
    assert write_yaml([value]) == text


@rows("value", [1, "a", [1, [2]], {"a": [1]}, {}, [], None, "a\nb\n", [[]]])
def test_a_key_too_long_for_yaml_s_simple_keys_is_still_read_back(value: Any) -> None:
    tree = {"first": 1, "k" * 1100: value, "é" * 1100: {"k" * 2000: [value]}, "last": 2}
    text = write_yaml([{"outer": tree}])
    assert yaml.load(text, Loader=yaml.CSafeLoader) == {"outer": tree}
    assert read_yaml(text, "")[0][0].value == {"outer": tree}


@pytest.mark.parametrize("key", [1, True, None, ("a",), 1.5])
def test_a_key_that_is_not_text_is_refused(key: Any) -> None:
    with pytest.raises(TypeError, match="a key must be text"):
        write_yaml([{"a": {key: 1}}])


@rows("value", [object(), {1, 2}, b"bytes", 1j])
@rows("wrap", [lambda value: value, lambda value: [value], lambda value: {"a": value}])
def test_what_json_cannot_hold_is_refused(value: Any, wrap: Any) -> None:
    with pytest.raises(TypeError, match="cannot be written"):
        write_yaml([wrap(value)])


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_json_cannot_hold_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a number that JSON can hold"):
        write_yaml([{"a": value}])


def nested(levels: int, wrap: Any) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


NESTS = [lambda value: {"a": value}, lambda value: [value], lambda value: {"a": [value]}, lambda value: [{"a": value, "b": 1}]]


@pytest.mark.parametrize("wrap", NESTS)
def test_whatever_the_reader_lets_in_can_be_written(wrap: Any) -> None:
    value = nested(50, wrap)
    assert read_yaml(write_yaml([value]), "")[0][0].value == value


@pytest.mark.parametrize("wrap", NESTS)
def test_a_value_nested_without_end_is_refused(wrap: Any) -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        write_yaml([nested(100_000, wrap)])


@pytest.mark.parametrize("container", [{}, []])
def test_a_value_that_contains_itself_is_refused(container: Any) -> None:
    if isinstance(container, dict):
        container["a"] = container
    else:
        container.append(container)
    with pytest.raises(ValueError, match="containing itself"):
        write_yaml([container])


def test_a_part_shared_at_several_depths_is_indented_for_each() -> None:
    part: dict[str, Any] = {"x": [1, {"y": 2}], "z": {"text": "a\nb\n"}}
    objects = [{"a": part, "b": {"c": part}, "d": [part, [part]]}, {"a": part, "e": part["x"], "f": [part["x"]]}]
    assert write_yaml(objects) == write_yaml(copy.deepcopy([object])[0] for object in objects)


def test_objects_that_live_only_while_they_are_written_do_not_take_each_other_s_text() -> None:
    def objects() -> Iterator[Any]:
        for number in range(500):
            part = {"number": number}
            yield {"a": part, "b": [part, part]}

    text = "---\n".join(f"a:\n  number: {n}\nb:\n- number: {n}\n- number: {n}\n" for n in range(500))
    assert "".join(iter_yaml(objects())) == text


KEYS = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS
LINES = st.text(alphabet="ab #:-\n\t\x85é", max_size=12)
VALUES = st.recursive(
    SCALARS | LINES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | LINES, inner, max_size=4), max_leaves=20
)


@settings(max_examples=runs(300))
@given(VALUES)
def test_any_value_is_read_back(value: Any) -> None:
    documents, found = read_yaml(write_yaml([value]), "")
    assert ([document.value for document in documents], found) == ([] if value is None else [value], [])


@settings(max_examples=runs(300))
@given(VALUES)
def test_any_value_is_what_yaml_1_1_reads(value: Any) -> None:
    assert yaml.load(write_yaml([value]), Loader=yaml.CSafeLoader) == value


@given(st.lists(VALUES, max_size=4))
def test_any_values_are_written_the_same_twice(values: list[Any]) -> None:
    assert write_yaml(values) == write_yaml(copy.deepcopy(values))


@given(VALUES)
def test_any_shared_value_is_written_as_its_copies_are(value: Any) -> None:
    assert write_yaml([{"a": value, "b": [value]}, value]) == write_yaml(
        [{"a": copy.deepcopy(value), "b": [copy.deepcopy(value)]}, copy.deepcopy(value)]
    )


@given(st.dictionaries(st.text(), st.text()))
def test_any_text_with_half_characters_is_written(value: dict[str, str]) -> None:
    write_yaml([value]).encode()
