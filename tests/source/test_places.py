"""Where values stand, in YAML and in JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.source.document import Document, position
from grove_compiler.source.json_reader import read_json
from grove_compiler.source.json_writer import write_json
from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import write_yaml
from tests.suite.rows import rows

YAML = """\
# A comment first.
apiVersion: v1
spec:
  list:
    - one
    - key: value
      'quoted key': 2
  flow: {a: [1, 2,
    3], b: 4}
  text: |
    some
    lines
  on: 5
base: &base
  x: 1
use: *base
merged:
  <<: *base
  w: 2
listed:
  <<: [*base, {z: 3}]
"""
YAML_PLACES: list[tuple[FieldPath, tuple[int, int]]] = [
    ((), (2, 1)),
    (("apiVersion",), (2, 1)),
    (("spec",), (3, 1)),
    (("spec", "list"), (4, 3)),
    (("spec", "list", 0), (5, 7)),
    (("spec", "list", 1), (6, 7)),
    (("spec", "list", 1, "quoted key"), (7, 7)),
    (("spec", "flow", "a", 2), (9, 5)),
    (("spec", "flow", "b"), (9, 9)),
    (("spec", "text"), (10, 3)),
    (("spec", "true"), (13, 3)),
    (("use",), (16, 1)),
    (("use", "x"), (15, 3)),
    (("merged", "x"), (15, 3)),
    (("merged", "w"), (19, 3)),
    (("listed", "x"), (15, 3)),
    (("listed", "z"), (21, 16)),
]
FALLBACKS: list[tuple[FieldPath, tuple[int, int]]] = [
    (("nothing",), (2, 1)),
    ((0,), (2, 1)),
    (("spec", "nothing", "below"), (3, 1)),
    (("spec", "list", 2), (4, 3)),
    (("spec", "list", -1), (4, 3)),
    (("spec", "list", "0"), (4, 3)),
    (("spec", "list", 0, "x"), (5, 7)),
    (("spec", 0), (3, 1)),
]


def only(text: str) -> Document:
    (document,), _ = read_yaml(text, "set.yaml")
    return document


@rows(("path", "place"), YAML_PLACES)
def test_a_yaml_value_has_a_place(path: FieldPath, place: tuple[int, int]) -> None:
    document = only(YAML)
    assert document.place(path) == place


@rows(("path", "place"), FALLBACKS)
def test_a_path_that_does_not_exist_has_the_place_of_its_nearest_ancestor(path: FieldPath, place: tuple[int, int]) -> None:
    assert only(YAML).place(path) == place


def test_places_in_a_later_document_count_from_the_beginning_of_the_file() -> None:
    documents, _ = read_yaml("a: 1\n---\n# here\nb:\n- c\n", "")
    assert [documents[1].place(("b",)), documents[1].place(("b", 0)), documents[1].line] == [(4, 1), (5, 3), 4]


def test_places_in_an_indented_document_are_right() -> None:
    assert only("\n   a: 1\n   b:\n     c: 2\n").place(("b", "c")) == (4, 6)


def test_places_behind_characters_of_several_bytes_count_characters() -> None:
    assert only("{é: ü😀, b: 1}").place(("b",)) == (1, 9)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_counts_as_one(end: str) -> None:
    assert only(end.join(["a: 1", "b:", "  c: 2", ""])).place(("b", "c")) == (3, 3)


def test_the_place_of_a_duplicate_key_is_that_of_the_first() -> None:
    assert only("a: 1\na: 2\n").place(("a",)) == (1, 1)


def test_entries_beside_an_impossible_key_have_their_places() -> None:
    assert only("? [x]\n: 1\nb: 2\n").place(("b",)) == (3, 1)


def test_entries_beside_an_unreadable_key_have_their_places() -> None:
    assert only(".inf: 1\n!!int x: 2\nb: 3\n").place(("b",)) == (3, 1)


def test_a_value_with_an_unknown_alias_has_a_place() -> None:
    assert only("a: *x\nb: 1\n").place(("a", "below")) == (1, 1)


def test_a_document_made_by_hand_has_only_its_line() -> None:
    assert Document({"a": 1}, "x", line=7).place(("a",)) == (7, 1)


def test_a_document_that_is_one_scalar_has_a_place() -> None:
    assert only("\n  text").place(()) == (2, 3)


JSON = '{"a": 1,\n "b": [1, {"c\\u0064": 2}],\n "e": {}, "f": "x:{[,\\"y", "g": 3}'
JSON_PLACES: list[tuple[FieldPath, tuple[int, int]]] = [
    ((), (1, 1)),
    (("a",), (1, 2)),
    (("b",), (2, 2)),
    (("b", 0), (2, 8)),
    (("b", 1), (2, 11)),
    (("b", 1, "cd"), (2, 12)),
    (("e",), (3, 2)),
    (("e", "below"), (3, 2)),
    (("f",), (3, 11)),
    (("g",), (3, 28)),
    (("b", 2), (2, 2)),
]


@rows(("path", "place"), JSON_PLACES)
def test_a_json_value_has_a_place(path: FieldPath, place: tuple[int, int]) -> None:
    (document,), _ = read_json(JSON, "set.json")
    assert document.place(path) == place


def test_several_json_values_on_one_line_have_their_own_places() -> None:
    documents, _ = read_json('{"a":1} {"b":2}\n[3]', "")
    assert [(document.line, document.place(())) for document in documents] == [(1, (1, 1)), (1, (1, 9)), (2, (2, 1))]
    assert documents[1].place(("b",)) == (1, 10)


@rows(
    ("text", "offset", "place"),
    [("", 0, (1, 1)), ("a\nb", 2, (2, 1)), ("a\r\nb", 3, (2, 1)), ("a\rb", 2, (2, 1)), ("a\n\nbc", 4, (3, 2)), ("abc", 2, (1, 3))],
)
def test_an_offset_has_a_line_and_a_column(text: str, offset: int, place: tuple[int, int]) -> None:
    assert position(text, 0, offset) == place


KEYS = st.text(alphabet="abcé😀 ", min_size=1, max_size=3)
VALUES = st.recursive(
    st.integers() | KEYS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


def paths(value: Any, path: FieldPath = ()) -> list[FieldPath]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [path, *(deeper for step, child in steps for deeper in paths(child, (*path, step)))]


def text_at(text: str, place: tuple[int, int]) -> str:
    return text.split("\n")[place[0] - 1][place[1] - 1 :]


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
def test_at_the_place_of_any_yaml_entry_stands_its_key(value: dict[str, Any]) -> None:
    text = write_yaml([value])
    document = only(text)
    for path in paths(value):
        if path and isinstance(path[-1], str):
            assert text_at(text, document.place(path)).lstrip('"').startswith(path[-1])


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
def test_at_the_place_of_any_json_entry_stands_its_key(value: dict[str, Any]) -> None:
    text = write_json([value])
    (document,), _ = read_json(text, "")
    for path in paths(value):
        if path and isinstance(path[-1], str):
            assert text_at(text, document.place(path)).startswith(f'"{path[-1]}"')
