"""Reports a run: as text, with the differences of failed cases and the counts, as JSON, and as JUnit XML for build servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TextIO

from grove_cli import findings
from grove_cli.golden.differences import Mismatch
from grove_cli.golden.outcome import CaseOutcome, Placed, Status, count
from grove_cli.output import json_report
from grove_cli.terminal import Terminal, terminal_of, visible
from grove_compiler.graph.diagnostic import Diagnostic
from grove_operator.wording import short_value
from kube_objects.words import counted

MAX_VALUE_LENGTH = 80
CONTEXT = 20
_WORDS: dict[Status, tuple[str, str]] = {
    "passed": ("ok", "32"),
    "updated": ("updated", "33"),
    "failed": ("FAILED", "31"),
    "broken": ("BROKEN", "31"),
}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow, not even escaped."""


def write(outcomes: list[CaseOutcome], find_file: findings.FindFile, stream: TextIO, verbose: bool = False) -> None:
    """Writes the differences of failed cases, then the errors of broken ones; with `verbose` the name of every case."""
    terminal = terminal_of(stream)
    for outcome in outcomes:
        if verbose or outcome.status != "passed":
            stream.write("\n".join(_lines(outcome, terminal)) + "\n")
    findings.write(_problems(outcomes), find_file, stream=stream)
    numbers = ", ".join(f"{number} {status}" for status, number in count(outcomes).items())
    stream.write(terminal.paint(f"{counted(len(outcomes), 'case')}: {numbers}", "1") + "\n")


def _problems(outcomes: list[CaseOutcome]) -> list[Diagnostic]:
    """Returns distinct problems, as cases share their rules."""
    found = {(problem.file, problem.line, problem.column, problem.message): problem for outcome in outcomes for problem in outcome.problems}
    return list(found.values())


def describe(placed: Placed) -> str:
    """Returns a difference on one line, without its subject."""
    difference = placed.difference
    what = _what(difference)
    return f"{difference.path}: {what}" if difference.path else what


def _lines(outcome: CaseOutcome, terminal: Terminal) -> Iterator[str]:
    word, colour = _WORDS[outcome.status]
    yield f"{terminal.paint(word.ljust(7), '1', colour)} {visible(outcome.name)}" + (
        f": {', '.join(outcome.written)}" if outcome.written else ""
    )
    subject = ""
    for placed in outcome.differences:
        difference = placed.difference
        if difference.subject != subject or not difference.path:
            subject = difference.subject
            yield f"    {terminal.paint(visible(subject), '1')}" + (
                f"  {describe(placed)}{_place(placed, terminal)}" if not difference.path else ""
            )
        if difference.path:
            yield f"        {visible(describe(placed))}{_place(placed, terminal)}"


def _place(placed: Placed, terminal: Terminal) -> str:
    return "  " + terminal.paint(visible(placed.place), "2") if placed.place else ""


def _what(difference: Mismatch) -> str:
    if difference.change == "missing":
        return f"missing, expected {short_value(difference.expected)}" if difference.path else "missing"
    if difference.change == "unexpected":
        return f"not expected, found {short_value(difference.found)}" if difference.path else _whole(difference)
    expected, found = _pair(difference.expected, difference.found)
    if difference.change == "reordered":
        return f"in another order, expected {expected}, found {found}"
    return f"expected {expected}, found {found}"


def _whole(difference: Mismatch) -> str:
    """Returns an unexpected object or finding; a finding with its message."""
    message = difference.found.get("message") if isinstance(difference.found, dict) else None
    return f"not expected: {message}" if message else "not expected"


def _pair(expected: Any, found: Any) -> tuple[str, str]:
    """Returns both values; of long texts the parts around the first difference."""
    if isinstance(expected, str) and isinstance(found, str) and max(len(expected), len(found)) > MAX_VALUE_LENGTH:
        same = next(
            (index for index, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), min(len(expected), len(found))
        )
        start = max(0, same - CONTEXT)
        return _cut(expected, start), _cut(found, start)
    return short_value(expected), short_value(found)


def _cut(text: str, start: int) -> str:
    end = start + MAX_VALUE_LENGTH - CONTEXT
    return f"{'…' if start else ''}{short_value(text[start:end])}{'…' if end < len(text) else ''}"


def as_json(outcomes: list[CaseOutcome]) -> bytes:
    """Returns `{"counts": {"passed": 1, …}, "cases": [{"name", "status", "differences", "problems", "written"}]}`.

    Empty lists are left out.
    """
    report = {"counts": count(outcomes), "cases": [_case_value(outcome) for outcome in outcomes]}
    return json_report(report)


def _case_value(outcome: CaseOutcome) -> dict[str, Any]:
    lists = {
        "differences": [_difference_value(placed) for placed in outcome.differences],
        "problems": findings.as_manifest(outcome.problems),
        "written": outcome.written,
    }
    return {"name": outcome.name, "status": outcome.status} | {key: value for key, value in lists.items() if value}


def _difference_value(placed: Placed) -> dict[str, Any]:
    difference = placed.difference
    value: dict[str, Any] = {"subject": difference.subject, "path": difference.path, "change": difference.change}
    if difference.change != "unexpected":
        value["expected"] = difference.expected
    if difference.change != "missing":
        value["found"] = difference.found
    if placed.line:
        value |= {"file": placed.file, "line": placed.line}
    return value


def as_junit(outcomes: list[CaseOutcome]) -> bytes:
    """Returns a suite with a `failure` for each failed case, and an `error` for each broken one."""
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    broken = sum(outcome.status == "broken" for outcome in outcomes)
    time = sum(outcome.seconds for outcome in outcomes)
    numbers = f'tests="{len(outcomes)}" failures="{failed}" errors="{broken}" time="{time:.3f}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {numbers}>", f'  <testsuite name="grove test" {numbers}>']
    for outcome in outcomes:
        lines += _test_case(outcome)
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""]).encode()


def _test_case(outcome: CaseOutcome) -> list[str]:
    folder, _, name = outcome.name.replace("\\", "/").rpartition("/")
    head = f'    <testcase classname="{_escaped(folder or ".")}" name="{_escaped(name)}" time="{outcome.seconds:.3f}"'
    if outcome.status == "failed":
        texts = [f"{placed.difference.subject} {describe(placed)}" for placed in outcome.differences]
        return [f"{head}>", _element("failure", texts, "difference"), "    </testcase>"]
    if outcome.status == "broken":
        texts = [f"{problem.place}: {problem.message}" if problem.place else problem.message for problem in outcome.problems]
        return [f"{head}>", _element("error", texts, "problem"), "    </testcase>"]
    return [f"{head}/>"]


def _element(tag: str, texts: list[str], word: str) -> str:
    message = counted(len(texts), word)
    return f'      <{tag} message="{message}">{_escaped(chr(10).join(texts))}</{tag}>'


def _escaped(text: str) -> str:
    text = _FORBIDDEN.sub("�", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
