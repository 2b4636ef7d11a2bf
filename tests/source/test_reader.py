"""Which encoding a file has, and whether it is JSON or YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.limits import Limits
from grove_compiler.source.reader import read_bytes, read_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["é: 😀\n", '{"é": "😀"}'])
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


@pytest.mark.parametrize("text", ["{a: 1}", "{'a': 1}", '{"a": 1,}', '{"a": 1} # one', '{"a": 1}\n---\n{"b": 2}', "[a]", "{a: 1}\n...\n"])
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
