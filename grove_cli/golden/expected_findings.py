"""Findings that a case expects: how they are written, and how what was found differs from them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grove_cli.golden.differences import Mismatch
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.source.document import Document

KEYS = ("code", "path", "severity", "type", "message", "says", "nearest", "hint", "line")
COMPARED = ("severity", "type", "message", "nearest", "hint", "line")

Expected = dict[str, Any]


def read_expected_findings(documents: Sequence[Document]) -> tuple[list[Expected], list[Diagnostic]]:
    """Parses a document with a list of findings; returns them with all errors.

    `code` is needed. What is not said is not compared. `says` is a part of the message.
    """
    expected: list[Expected] = []
    problems: list[Diagnostic] = []
    for document in documents[:1]:
        if not isinstance(document.value, list):
            problems.append(_problem(document, (), "expected a list of findings, each with its `code`"))
            continue
        for index, entry in enumerate(document.value):
            problems += _check(document, index, entry)
            expected.append(entry)
    problems += [_problem(document, (), "a second document; only one is allowed") for document in documents[1:]]
    return ([] if problems else expected), problems


def compare_findings(expected: Sequence[Expected], result: Sequence[Diagnostic]) -> list[Mismatch]:
    """Returns the missing, unexpected and changed findings. Their order does not matter."""
    left = list(result)
    open_entries: list[tuple[int, Expected]] = []
    for number, entry in enumerate(expected):
        match = next((finding for finding in left if _agrees(entry, finding)), None)
        if match is None:
            open_entries.append((number, entry))
        else:
            left.remove(match)
    differences: list[Mismatch] = []
    for number, entry in open_entries:
        near = next((finding for finding in left if _is_about_the_same(entry, finding)), None)
        if near is None:
            differences.append(Mismatch(_subject(entry["code"], entry.get("path", "")), "", "missing", entry, at=(number,), document=0))
        else:
            left.remove(near)
            differences += _words(number, entry, near)
    return differences + unexpected(left)


def unexpected(result: Sequence[Diagnostic]) -> list[Mismatch]:
    """Returns unexpected findings."""
    return [Mismatch(_subject(one.code, one.path), "", "unexpected", found=describe(one)) for one in result]


def describe(finding: Diagnostic) -> Expected:
    """Returns a finding as an expectation, without empty fields and without the line, which changes with every edit."""
    fields = {key: getattr(finding, key) for key in ("code", "path", "severity", "type", "message", "nearest", "hint")}
    return {key: value for key, value in fields.items() if value}


def _agrees(entry: Expected, finding: Diagnostic) -> bool:
    if not _is_about_the_same(entry, finding):
        return False
    return all(getattr(finding, key) == entry[key] for key in COMPARED if key in entry) and entry.get("says", "") in finding.message


def _is_about_the_same(entry: Expected, finding: Diagnostic) -> bool:
    return bool(entry["code"] == finding.code and entry.get("path", finding.path) == finding.path)


def _words(number: int, entry: Expected, finding: Diagnostic) -> list[Mismatch]:
    subject = _subject(finding.code, finding.path)
    differences = [
        Mismatch(subject, key, "changed", entry[key], getattr(finding, key), document=0, at=(number, key))
        for key in COMPARED
        if key in entry and entry[key] != getattr(finding, key)
    ]
    if entry.get("says", "") not in finding.message:
        differences.append(Mismatch(subject, "says", "changed", entry["says"], finding.message, document=0, at=(number, "says")))
    return differences


def _subject(code: str, path: str) -> str:
    return f"finding {code} at {path}" if path else f"finding {code}"


def _check(document: Document, index: int, entry: Any) -> list[Diagnostic]:
    if not isinstance(entry, dict):
        return [_problem(document, (index,), f"a finding is a map with {', '.join(KEYS)}")]
    problems = (
        []
        if isinstance(entry.get("code"), str)
        else [_problem(document, (index,), "a finding requires its `code`, such as validate/set-cliques")]
    )
    for key, value in entry.items():
        expected: type = int if key == "line" else str
        if key not in KEYS:
            message = f"a finding has no {key!r}; the keys are {', '.join(KEYS)}"
            problems.append(_problem(document, (index, key), message, nearest(key, KEYS)))
        elif not isinstance(value, expected) or isinstance(value, bool):
            problems.append(_problem(document, (index, key), f"`{key}` is {'a number' if expected is int else 'text'}"))
    return problems


def _problem(document: Document, path: FieldPath, message: str, suggestion: str = "") -> Diagnostic:
    line, column = document.place(path)
    return Diagnostic("case/expected-findings", "error", message, file=document.file, line=line, column=column, nearest=suggestion)
