"""Defines the outcome of a case."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from grove_cli.golden.differences import Mismatch
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record

Status = Literal["passed", "failed", "updated", "broken"]


@record
class Placed:
    """A difference, and the `file:line` of the expected value if it has one."""

    difference: Mismatch
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@record
class CaseOutcome:
    """`differences` fail a case; `problems` are errors in the case or its rules that prevent a comparison.

    `written` are the files that an update wrote, `seconds` the time that the case took.
    """

    name: str
    status: Status
    differences: list[Placed] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    seconds: float = 0.0


def count(outcomes: list[CaseOutcome]) -> dict[Status, int]:
    """Returns the number of cases by status, passed ones first, without zeros."""
    order: tuple[Status, ...] = ("passed", "updated", "failed", "broken")
    numbers = {status: sum(outcome.status == status for outcome in outcomes) for status in order}
    return {status: number for status, number in numbers.items() if number}
