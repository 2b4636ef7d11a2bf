"""Reports a run as JSON."""

from __future__ import annotations

import json
from typing import Any

from grove_cli import findings
from grove_cli.golden.outcome import CaseOutcome, Placed, count


def as_json(outcomes: list[CaseOutcome]) -> bytes:
    """Returns `{"counts": {"passed": 1, …}, "cases": [{"name", "status", "differences", "problems", "written"}]}`.

    Empty lists are left out.
    """
    report = {"counts": count(outcomes), "cases": [_case(outcome) for outcome in outcomes]}
    return (json.dumps(report, indent=2, ensure_ascii=False, default=str) + "\n").encode("utf-8", "backslashreplace")


def _case(outcome: CaseOutcome) -> dict[str, Any]:
    lists = {
        "differences": [_difference(placed) for placed in outcome.differences],
        "problems": findings.as_manifest(outcome.problems),
        "written": outcome.written,
    }
    return {"name": outcome.name, "status": outcome.status} | {key: value for key, value in lists.items() if value}


def _difference(placed: Placed) -> dict[str, Any]:
    difference = placed.difference
    value: dict[str, Any] = {"subject": difference.subject, "path": difference.path, "change": difference.change}
    if difference.change != "unexpected":
        value["expected"] = difference.expected
    if difference.change != "missing":
        value["found"] = difference.found
    if placed.line:
        value |= {"file": placed.file, "line": placed.line}
    return value
