"""Maps an error inside generated code to the rule, file and line that the code came from."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
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


@record
class LinePlaces:
    """Maps the lines of generated functions to their places in the rules.

    `data` is marshalled: by the name of a function's code, for each line the number of its place or -1, and the places as file, line and
    path. Only what failed asks for them, and 10,000 values more to make would take each start half a millisecond.
    """

    rules: Sequence[RuleInfo]
    data: bytes

    def failure(self, error: Exception, rule: RuleInfo) -> RuleFailure:
        """Turns what went wrong while a rule ran into a failure at the place of the expression."""
        file, line, path = self._place(error, rule)
        what = str(error) if isinstance(error, EvaluationError) else f"{type(error).__name__}: {error}"
        message = f"the rule {self._label(rule, file, line)} failed: {what}"
        return RuleFailure(Diagnostic(FAILED, "error", message, path, file, line))

    def _label(self, rule: RuleInfo, file: str, line: int) -> str:
        """Names the rule that failed, and the patch if what failed stands in one."""
        patches = [other for other in self.rules if other.verb == "patch" and other.file == file and other.line <= line]
        patch = max(patches, key=lambda other: other.line, default=None)
        is_own = rule.file == file and (patch is None or patch.line < rule.line <= line)
        return repr(rule.id) if patch is None or is_own else f"{patch.id!r}, for an object of {rule.id!r},"

    def _place(self, error: BaseException, rule: RuleInfo) -> Position:
        """Finds the place in the rules that the deepest line of generated code came from."""
        tables = marshal.loads(self.data)
        place: Position = (rule.file, rule.line, "")
        trace = error.__traceback__
        while trace is not None:
            lines, places = tables.get(trace.tb_frame.f_code.co_filename, ((), ()))
            index = lines[trace.tb_lineno - 1] if trace.tb_lineno <= len(lines) else -1
            place = places[index] if index >= 0 else place
            trace = trace.tb_next
        return place
