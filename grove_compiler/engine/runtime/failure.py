"""Describes compiled rules, and the failure of one."""

from __future__ import annotations

from typing import Any

from grove_compiler.engine.runtime.access import EvaluationError
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record

Position = tuple[str, int, str]
"""File, line, and the path in the document."""

FAILED = "rules/failed"
"""The code of the diagnostic about a rule that could not run."""

FAILURES = (
    EvaluationError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, NameError, RuntimeError, StopIteration,
    TypeError, ValueError,
)  # fmt: skip
"""The exceptions that evaluating an expression may raise. RuntimeError covers recursion: a decision that depends on itself via the model.

Not `Exception`: a limit that is exceeded and the failure of a decision pass through the rules that asked.
"""


@record
class RuleInfo:
    """Describes a compiled rule.

    `loops` are its `forEach` pairs; `after` holds, for each rule whose objects come first, how many leading loops both share.
    `details` are the keys of its verb that are data: kind, template, operations, severity, policy and the like.
    """

    id: str
    doc: str
    verb: str
    origin: str
    file: str
    line: int
    loops: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, int], ...]
    details: dict[str, Any]

    def is_about(self, kind: str) -> bool:
        """Reports whether the rule runs for an input of this kind. Without a kind (a vocabulary may have none) every rule does."""
        return not kind or kind in self.details["about"]


def code_name(rule: str) -> str:
    """Returns the file name of the code that the rule with this id became, in tracebacks."""
    return f"<grove rule {rule}>"


class RuleFailure(Exception):
    """Reports a rule that failed on this input, which is a mistake in the rule, not in the input. `diagnostic` names its place."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(f"{diagnostic.place}: {diagnostic.message}")
