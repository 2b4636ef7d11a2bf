"""Reports a run as JUnit XML for build servers."""

from __future__ import annotations

import re

from grove_cli.golden.outcome import CaseOutcome
from grove_cli.golden.report_text import describe
from kube_objects.words import counted

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow, not even escaped."""


def as_junit(outcomes: list[CaseOutcome]) -> bytes:
    """Returns a suite with a `failure` for each failed case, and an `error` for each broken one."""
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    broken = sum(outcome.status == "broken" for outcome in outcomes)
    time = sum(outcome.seconds for outcome in outcomes)
    numbers = f'tests="{len(outcomes)}" failures="{failed}" errors="{broken}" time="{time:.3f}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {numbers}>", f'  <testsuite name="grove test" {numbers}>']
    for outcome in outcomes:
        lines += _case(outcome)
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""]).encode()


def _case(outcome: CaseOutcome) -> list[str]:
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
