"""Defines `Diagnostic`: what is wrong, where, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from grove_compiler.record import record

Severity = Literal["error", "warning"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

MAX_FINDINGS = 1_000
"""The most findings of one severity for one object. A list of a million wrong items would cost a gigabyte, and nobody reads on."""


@record
class Diagnostic:
    """Describes one problem of an input or a rule.

    `code` names the check: a rule's id, or `schema/unknown-field` and the like. `path` is a Kubernetes field path as text (see
    `field_path.render`), empty when the finding is about a whole document. `line` and `column` count from 1; 0 means unknown.
    `type` is Kubernetes' word for the kind of error (`Invalid value`, `Required value`, `Duplicate value`, `Forbidden`,
    `Not found`, `Unsupported value`) when admission would say one. `nearest` is the closest value or field that would be right. `at`
    is the path whose place is shown, where that is not `path`: Kubernetes reports some mistakes of a list's items at the list.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    nearest: str = ""
    type: str = ""
    value: Any = None
    hint: str = ""
    at: str = ""

    @property
    def place(self) -> str:
        """`file:line:column` as far as known, the form that editors and terminals make clickable."""
        return ":".join(str(part) for part in (self.file, self.line, self.column if self.line else 0) if part)


def too_many_findings(severity: Severity = "error") -> Diagnostic:
    """Returns the diagnostic that ends the list when there are more than `MAX_FINDINGS` errors, or warnings."""
    if severity == "warning":
        return Diagnostic("limit/findings", severity, f"more than {MAX_FINDINGS:,} things call for a warning; the others are not listed")
    return Diagnostic("limit/findings", severity, f"more than {MAX_FINDINGS:,} things are wrong; no more is looked at", type="Too many")


def has_errors(diagnostics: list[Diagnostic]) -> bool:
    """Reports whether any of the diagnostics is an error, not a warning."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def errors_of(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Returns the diagnostics that are errors, not warnings."""
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
