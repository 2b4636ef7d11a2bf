"""Reading JSON: values, duplicate keys, numbers and characters that Kubernetes does not take, limits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.findings import Limits
from grove_compiler.source.json_reader import read_json
from tests.suite.rows import rows

VALUES: list[tuple[str, list[Any]]] = [
    ("", []),
    (" \n\t\r ", []),
    ("null", []),
    ('{"a": 1}', [{"a": 1}]),
    ("\ufeff[1]", [[1]]),
    ('{"a":1}{"b":2}', [{"a": 1}, {"b": 2}]),
    ('{"a":1}\n\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
    ("1 null 2", [1, 2]),
    ('{"a": [true, false, null, -1.5, "x\\ny"]}', [{"a": [True, False, None, -1.5, "x\ny"]}]),
    ('"\\ud83d\\ude00"', ["😀"]),
    ('"\\\\ud800"', ["\\ud800"]),
    ("18446744073709551616", [18446744073709551616]),
]


def test_whole_numbers_are_integers_however_they_are_written() -> None:
    [document], _ = read_json("[2.0, 1e3, -0.5, 1e300]", "set.json")
    assert [type(value) for value in document.value] == [int, int, float, float]


@rows(("text", "expected"), VALUES)
def test_values_are_read(text: str, expected: list[Any]) -> None:
    documents, found = read_json(text, "set.json")
    assert ([document.value for document in documents], found) == (expected, [])


def test_values_are_numbered_and_have_their_lines() -> None:
    documents, _ = read_json('\n{"a":\n1}\nnull [2] 3', "set.json")
    assert [(document.index, document.line, document.file) for document in documents] == [
        (0, 2, "set.json"),
        (1, 4, "set.json"),
        (2, 4, "set.json"),
    ]


ERRORS: list[tuple[str, str, tuple[int, int], str]] = [
    ('{"a": 1,}', "json/syntax", (1, 9), "no comma after the last entry"),
    ("[1, 2,]", "json/syntax", (1, 7), "no comma after the last one"),
    ('{"a" 1}', "json/syntax", (1, 6), "a ':' is missing"),
    ('{"a": 1 "b": 2}', "json/syntax", (1, 9), "a comma is missing"),
    ("{a: 1}", "json/syntax", (1, 2), "in double quotes"),
    ('{"a": b}', "json/syntax", (1, 7), "text must be in double quotes"),
    ('{"a": "b', "json/syntax", (1, 7), "never closed"),
    ('{"a": [1,\n 2', "json/syntax", (2, 3), "the text ends before the value does"),
    ('{"a": "x\ny"}', "json/syntax", (1, 9), "a line break or control character inside quotes"),
    ('{"a": "\\d"}', "json/syntax", (1, 8), "an unknown escape"),
    ('{"a": "\\u12"}', "json/syntax", (1, 9), "four hexadecimal digits"),
    ('{"a": 1}\nx', "json/syntax", (2, 1), "text must be in double quotes"),
    ('{"a": NaN}', "json/number", (1, 7), "NaN is not a number"),
    ("[1,\n-Infinity]", "json/number", (2, 1), "-Infinity is not a number"),
    ("[1e999]", "json/number", (1, 2), "1e999 is too large"),
    ("[-1e999]", "json/number", (1, 2), "-1e999 is too large"),
    (f"[1, {'9' * 5000}]", "json/number", (1, 5), "is too large for a number"),
    ('{"a": "\\ud800"}', "json/character", (1, 7), "half of a surrogate pair"),
    ('{"\\uDC00": 1}', "json/character", (1, 2), "half of a surrogate pair"),
    ('["\ud800"]', "json/character", (1, 2), "half of a surrogate pair"),
]


@rows(("text", "code", "place", "words"), ERRORS)
def test_an_error_says_what_is_wrong_and_where(text: str, code: str, place: tuple[int, int], words: str) -> None:
    _, (finding,) = read_json(text, "set.json")
    assert (finding.code, finding.line, finding.file) == (code, place[0], "set.json")
    assert abs(finding.column - place[1]) <= 1  # versions of Python point at the comma or behind it
    assert words in finding.message


def test_every_duplicate_key_is_reported_with_both_lines() -> None:
    text = '{"a": 1,\n "b": [{"c": 1,\n "c": 2, "c": 3}],\n "a": 2}'
    _, found = read_json(text, "set.json")
    assert [(finding.line, finding.path, finding.type) for finding in found] == [
        (3, "b[0].c", "Duplicate value"),
        (3, "b[0].c", "Duplicate value"),
        (4, "a", "Duplicate value"),
    ]
    assert "first in line 1" in found[2].message


def test_keys_that_are_escaped_differently_but_read_alike_are_duplicates() -> None:
    _, (finding,) = read_json('{"a": 1, "\\u0061": 2}', "")
    assert finding.code == "json/duplicate-key"


def test_a_duplicate_in_a_later_value_has_its_place_in_the_file() -> None:
    _, (finding,) = read_json('{"a": 1}\n{"b": 1,\n"b": 2}', "")
    assert (finding.line, finding.column) == (3, 1)


def test_the_values_before_a_syntax_error_are_read() -> None:
    documents, _ = read_json('{"a": 1}\n{"b": }', "")
    assert [document.value for document in documents] == [{"a": 1}]


@pytest.mark.parametrize(
    ("text", "limits", "code"),
    [
        ("[[[]]]", Limits(depth=2), "json/too-deep"),
        ('{"a": {"b": {}}}', Limits(depth=2), "json/too-deep"),
        ("[1, 2, 3]", Limits(nodes=3), "json/too-large"),
        ("1 2 3 4", Limits(nodes=3), "json/too-large"),
        ("[1, 2]", Limits(size=5), "json/too-large"),
    ],
)
def test_what_exceeds_a_limit_is_refused(text: str, limits: Limits, code: str) -> None:
    _, (finding,) = read_json(text, "", limits)
    assert finding.code == code


@pytest.mark.parametrize(
    ("text", "limits"),
    [("[[]]", Limits(depth=2)), ('{"a": {"b": 1}}', Limits(depth=2)), ("[1, 2, 3]", Limits(nodes=4)), ("[1, 2]", Limits(size=6))],
)
def test_what_just_keeps_a_limit_is_read(text: str, limits: Limits) -> None:
    assert read_json(text, "", limits)[1] == []


def test_reading_stops_after_too_many_findings() -> None:
    _, found = read_json("{" + '"a": 1, ' * 50 + '"a": 1}', "", Limits(findings=10))
    assert (len(found), found[-1].code) == (11, "source/too-many-findings")


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet=st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=15,
)


@given(JSON_VALUES.filter(lambda value: value is not None), st.booleans())
def test_any_json_value_is_read_as_the_standard_library_reads_it(value: Any, escape: bool) -> None:
    documents, found = read_json(json.dumps(value, ensure_ascii=escape), "")
    assert ([document.value for document in documents], found) == ([value], [])


@given(st.text())
def test_any_text_is_read_or_reported(text: str) -> None:
    read_json(text, "any.json")


@given(st.text(alphabet='{}[],:"\\u0d8 \n1e9.-NaIty\ud800', max_size=30))
def test_any_text_of_json_s_own_characters_is_read_or_reported(text: str) -> None:
    documents, found = read_json(text, "any.json")
    assert all(finding.line >= 1 and finding.column >= 1 for finding in found)
    assert all(document.place((0,)) >= (1, 1) for document in documents)
