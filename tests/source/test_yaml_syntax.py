"""What a syntax error says, and where."""

from __future__ import annotations

import pytest

from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows

CASES: list[tuple[str, str, tuple[int, int], str]] = [
    ("a:\n\t- b", "yaml/tab", (2, 1), "indent with spaces"),
    ("a:\n  b: 1\n\tc: 2", "yaml/tab", (3, 1), "indent with spaces"),
    ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "yaml/syntax", (1, 3), "render the template first"),
    ("a: '{{ b }}' c", "yaml/syntax", (1, 14), "not indented like the keys"),
    ("a: b: c", "yaml/syntax", (1, 5), "a ':' where no mapping can begin"),
    ("a: 1\n  b: 2", "yaml/syntax", (2, 4), "a ':' where no mapping can begin"),
    ("a: 1\nb\nc: 2", "yaml/syntax", (2, 1), "a key without ':'"),
    ("a: 1\n{{- if .b }}\nc: 2", "yaml/syntax", (2, 1), "render the template first"),
    ("  a: 1\n b: 2", "yaml/syntax", (2, 2), "begin the next document with a line '---'"),
    ("a:\n    b: 1\n  c: 2", "yaml/syntax", (3, 3), "not indented like the keys of any mapping above it"),
    ("- a\nb: 1", "yaml/syntax", (2, 1), "neither an item of the list above"),
    ("a: [1, 2\nb: 3", "yaml/syntax", (2, 2), "a list in brackets is not closed"),
    ("a:\n  [1, 2\n", "yaml/syntax", (3, 1), "it opens in line 2"),
    ("a: {b: 1\nc: 2", "yaml/syntax", (2, 2), "a mapping in braces is not closed"),
    ("[a, , b]", "yaml/syntax", (1, 5), "a value is missing before this"),
    ("a: 'b\nc: d\n", "yaml/syntax", (1, 4), "the quoted text that begins here is never closed"),
    ('a: "b\n---\nc: d\n', "yaml/syntax", (1, 4), "close the quote"),
    ("a: @b", "yaml/syntax", (1, 4), "a value cannot begin with '@'; quote it"),
    ("a: `b`", "yaml/syntax", (1, 4), "a value cannot begin with '`'; quote it"),
    ("a: - b", "yaml/syntax", (1, 4), "a list item '- ' cannot begin here"),
    ('a: "\\d"', "yaml/syntax", (1, 5), "an unknown escape in double quotes"),
    ('a: "\\xzz"', "yaml/syntax", (1, 7), "without enough hexadecimal digits"),
    ('a: "\\ud83d\\ude00"', "yaml/syntax", (1, 7), "write it whole, as \\U and eight digits"),
    ("a: !x!y b", "yaml/syntax", (1, 4), "Kubernetes objects have no tags"),
    ("%YAML 3.0\n---\na: 1\n", "yaml/syntax", (1, 1), "a %YAML directive for a version other than"),
    ("a: 1\n}", "yaml/syntax", (2, 1), "not indented like the keys"),
    ("a: &", "yaml/syntax", (1, 5), "anchor"),
    ("a\x00b: 1", "yaml/character", (1, 2), "is this a binary file?"),
    ("a: 1\nb: '\x07'", "yaml/character", (2, 5), 'write it as "\\x07" in double quotes'),
    ("a: '\ud800'", "yaml/character", (1, 5), "half a character (the surrogate U+D800)"),
    ("a: '\uffff'", "yaml/character", (1, 5), "U+FFFF"),
]


@rows(("text", "code", "place", "words"), CASES)
def test_a_syntax_error_says_what_is_wrong_and_where(text: str, code: str, place: tuple[int, int], words: str) -> None:
    finding = read_yaml(text, "set.yaml")[1][0]
    assert (finding.code, (finding.line, finding.column)) == (code, place)
    assert words in finding.message


def test_every_invalid_character_is_reported() -> None:
    _, found = read_yaml("a: '\x01'\n---\nb: '\ud800\x02'\n", "")
    assert [(finding.line, finding.column) for finding in found] == [(1, 5), (3, 5), (3, 6)]


def test_documents_with_invalid_characters_are_read_with_stand_ins() -> None:
    documents, _ = read_yaml("a: 1\n---\nb: '\x01'\n", "")
    assert [document.value for document in documents] == [{"a": 1}, {"b": "\N{REPLACEMENT CHARACTER}"}]


def test_an_error_beside_an_invalid_character_is_reported_once() -> None:
    _, found = read_yaml("a: 1\na: 2\n---\nb: '\x01'\n", "")
    assert [finding.code for finding in found] == ["yaml/duplicate-key", "yaml/character"]


@pytest.mark.parametrize("separator", ["---", "--- # next", "---\t", "--- "])
def test_reading_goes_on_at_the_next_separator(separator: str) -> None:
    documents, _ = read_yaml(f"a: }}\n{separator}\nb: 1\n", "")
    assert [document.value for document in documents] == [{"b": 1}]


def test_dashes_that_are_no_separator_do_not_start_a_document() -> None:
    documents, _ = read_yaml("a: }\n---b\nc: 1\n", "")
    assert documents == []
