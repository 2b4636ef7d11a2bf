"""Which encoding a file has, and whether it is JSON or YAML."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.findings import Limits
from grove_compiler.source.reader import read_bytes, read_text
from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows


@rows("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@rows("text", ["é: 😀\n", '{"é": "😀"}'])
def test_a_byte_order_mark_says_the_encoding(text: str, encoding: str) -> None:
    documents, found = read_bytes(text.encode(encoding), "set.yaml")
    assert ([document.value for document in documents], found) == ([{"é": "😀"}], [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_both_orders_of_bytes_are_read(encoding: str) -> None:
    documents, _ = read_bytes("\ufeffa: é".encode(encoding), "")
    assert documents[0].value == {"a": "é"}


@pytest.mark.parametrize(
    ("data", "place"), [(b"a: \xff", (1, 4)), (b"a: 1\nb: \xe9t\xe9", (2, 4)), ("é: ".encode() + b"\x80", (1, 4)), (b"\xff\xfea", (1, 1))]
)
def test_bytes_that_are_no_text_are_one_error_with_its_place(data: bytes, place: tuple[int, int]) -> None:
    documents, (finding,) = read_bytes(data, "set.yaml")
    assert (documents, finding.code, (finding.line, finding.column), finding.file) == ([], "source/encoding", place, "set.yaml")


@pytest.mark.parametrize("text", ['{"a": 1}', ' \n{"a": 1}', '{\n\t"a": 1\n}', '\ufeff{"a":1}'])
def test_what_begins_and_parses_like_json_is_json(text: str) -> None:
    documents, found = read_text(text, "set.yaml")
    assert (documents[0].value, found) == ({"a": 1}, [])


@rows(
    "between",
    ["\n---\n", "\n\n--- \t\n\n", "\r\n---\r\n", "\n---\n---\n", "\n", ""],
    ids=["one", "blanks", "of Windows", "two", "a line", "none"],
)
def test_values_with_separators_between_them_are_json(between: str) -> None:
    text = between.join(['{"a": "\\u00e9"}', '{\n  "a": "---"\n}', "[1]"])
    documents, found = read_text(text, "set.yaml")
    lines = 1 + between.count("\n"), 3 + 2 * between.count("\n")
    assert ([one.value for one in documents], found) == ([{"a": "é"}, {"a": "---"}, [1]], [])
    assert [one.line for one in documents] == [1, *lines]


@pytest.mark.parametrize("text", ['{"a": 1}\n--- # two\nb: 2', '{"a": 1}\n---\nb: 2', '{"a": 1}\n...\n---\nb: 2'])
def test_one_document_that_is_not_json_makes_all_of_them_yaml(text: str) -> None:
    documents, found = read_text(text, "set.yaml")
    assert ([one.value for one in documents], found) == ([{"a": 1}, {"b": 2}], [])


@pytest.mark.parametrize("text", ['{"a": 1} ---\n{"b": 2}', '{"a": 1}\n ---\n{"b": 2}', '{"a": 1}\n----\n{"b": 2}'])
def test_a_separator_is_a_line_of_its_own(text: str) -> None:
    _, found = read_text(text, "set.yaml")
    assert {one.code for one in found} == {"yaml/syntax"}


JSON_OBJECTS = st.dictionaries(
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1),
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(categories=["L", "N", "P"])),
    min_size=1,
)


@given(st.lists(JSON_OBJECTS, min_size=1, max_size=4), st.sampled_from([None, 2]))
def test_separated_json_means_what_it_means_as_yaml(objects: list[dict[str, Any]], indent: int | None) -> None:
    text = "\n---\n".join(json.dumps(one, indent=indent, ensure_ascii=False) for one in objects)
    read, as_yaml = read_text(text, "set.yaml")[0], read_yaml(text, "set.yaml")[0]
    assert [one.value for one in read] == [one.value for one in as_yaml] == objects
    assert [one.line for one in read] == [one.line for one in as_yaml]


def test_a_file_named_json_has_no_separators() -> None:
    _, (finding,) = read_text('{"a": 1}\n---\n{"b": 2}', "set.json")
    assert (finding.code, finding.line) == ("json/syntax", 2)


@rows("text", ["{a: 1}", "{'a': 1}", '{"a": 1,}', '{"a": 1} # one', '{"a": 1}\n---\n{"b": 2}', "[a]", "{a: 1}\n...\n"])
def test_what_only_begins_like_json_is_yaml(text: str) -> None:
    documents, found = read_text(text, "set.yaml")
    assert (documents[0].value in ({"a": 1}, ["a"]), found) == (True, [])


def test_a_file_named_json_is_json_only() -> None:
    _, (finding,) = read_text("{a: 1}", "set.json")
    assert finding.code == "json/syntax"


def test_what_parses_as_neither_is_reported_as_yaml() -> None:
    _, (finding,) = read_text('{"a": 1 "b": 2}', "set.yaml")
    assert finding.code == "yaml/syntax"


def test_a_duplicate_key_in_json_is_reported_once() -> None:
    _, (finding,) = read_text('{"a": 1, "a": 2}', "set.yaml")
    assert finding.code == "json/duplicate-key"


@pytest.mark.parametrize("text", ["{a: [[]]}", '{"a": [[]]}'])
def test_limits_hold_in_both(text: str) -> None:
    _, (finding,) = read_text(text, "", Limits(depth=2))
    assert finding.code in ("yaml/too-deep", "json/too-deep")


@given(st.binary())
def test_any_bytes_are_read_or_reported(data: bytes) -> None:
    read_bytes(data, "any")
