"""Findings that a case expects, and those that came."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.golden.expected_findings import compare_findings, describe, read_expected_findings
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.reader import read_text
from tests.suite.rows import rows


def finding(code: str = "validate/a", path: str = "spec.x", **more: Any) -> Diagnostic:
    return Diagnostic(code, more.pop("severity", "error"), more.pop("message", "must not be so"), path, **more)


def told(expected: list[dict[str, Any]], *found: Diagnostic) -> list[tuple[str, str, str]]:
    return [(one.subject, one.path, one.change) for one in compare_findings(expected, found)]


AGREES: list[dict[str, Any]] = [
    {"code": "validate/a"},
    {"code": "validate/a", "path": "spec.x"},
    {"code": "validate/a", "severity": "error", "message": "must not be so"},
    {"code": "validate/a", "says": "not be"},
    {"code": "validate/a", "line": 7, "nearest": "y"},
]


@pytest.mark.parametrize("entry", AGREES)
def test_only_what_is_said_is_compared(entry: dict[str, Any]) -> None:
    assert told([entry], finding(line=7, nearest="y")) == []


WORDS: list[tuple[dict[str, Any], str]] = [
    ({"severity": "warning"}, "severity"),
    ({"message": "must be so"}, "message"),
    ({"says": "must be"}, "says"),
    ({"line": 8}, "line"),
    ({"type": "Forbidden"}, "type"),
    ({"hint": "do it"}, "hint"),
    ({"nearest": "z"}, "nearest"),
]


@rows(("words", "field"), WORDS)
def test_other_words_are_told_by_their_field(words: dict[str, Any], field: str) -> None:
    assert told([{"code": "validate/a", **words}], finding(line=7, nearest="y")) == [("finding validate/a at spec.x", field, "changed")]


def test_a_finding_that_did_not_come_is_missing() -> None:
    assert told([{"code": "validate/b", "path": "spec.y"}]) == [("finding validate/b at spec.y", "", "missing")]


def test_a_finding_that_nobody_expected_is_told() -> None:
    assert told([], finding(path="")) == [("finding validate/a", "", "unexpected")]


def test_the_same_rule_at_another_path_is_another_finding() -> None:
    assert [change for _, _, change in told([{"code": "validate/a", "path": "spec.y"}], finding())] == ["missing", "unexpected"]


def test_each_finding_meets_one_expectation() -> None:
    entry = {"code": "validate/a"}
    assert told([entry, entry], finding(), finding()) == []
    assert [change for _, _, change in told([entry], finding(), finding())] == ["unexpected"]
    assert [change for _, _, change in told([entry, entry], finding())] == ["missing"]


def test_an_exact_expectation_is_met_before_words_are_compared() -> None:
    vague, exact = {"code": "validate/a", "message": "one"}, {"code": "validate/a", "message": "two"}
    assert told([vague, exact], finding(message="two"), finding(message="one")) == []


def test_what_update_writes_is_what_is_met() -> None:
    found = finding(type="Invalid value", nearest="y", hint="h", line=3, value=5)
    assert told([describe(found)], found) == []


@rows(
    ("text", "said", "nearest"),
    [
        ("code: x", "expected a list of findings", ""),
        ("- validate/a", "a finding is a map with code, path", ""),
        ("- {path: spec}", "a finding requires its `code`", ""),
        ("- {code: x, mesage: y}", "a finding has no 'mesage'", "message"),
        ("- {code: x, line: one}", "`line` is a number", ""),
        ("- {code: x, line: true}", "`line` is a number", ""),
        ("- {code: x, message: 5}", "`message` is text", ""),
        ("- {code: x}\n---\n- {code: y}", "a second document", ""),
    ],
)
def test_what_is_wrong_with_a_file_is_told_at_its_line(text: str, said: str, nearest: str) -> None:
    documents, _ = read_text("# head\n" + text, "expected-findings.yaml")
    expected, problems = read_expected_findings(documents)
    assert expected == []
    assert [(said in problem.message, problem.nearest, problem.line > 1) for problem in problems] == [(True, nearest, True)]


def test_an_empty_file_expects_no_findings() -> None:
    assert read_expected_findings([]) == ([], [])
