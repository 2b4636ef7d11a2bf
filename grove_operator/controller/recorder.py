"""Keeps the operator's last looks at keys, so that they can be replayed: in memory, and by handing them to whoever writes them down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from applier.errors import ApplierError, NotSynced
from applier.loop import Result
from applier.outcome import Outcome
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Objects
from grove_compiler.record import record
from grove_compiler.replay.bundle import RecordedStep
from grove_compiler.replay.replay import StepFunction, record_step
from grove_compiler.step import Context, Gone, Hold, Key, Step

Why = Literal["step", "failed", "asked"]
Keep = Callable[[RecordedStep, Why], None]
"""Writes a look down; `Why` says whether all are, or it failed, or somebody has asked for it."""


def nowhere(_: RecordedStep, __: Why) -> None:
    """Writes nothing."""


@record
class Keeping:
    """How much is kept: the last `in_memory` looks until somebody asks for them. With `every` each is handed to `keep` at once.

    A look on which a rule or the program failed is handed over in any case, once for each reason that a key fails for.
    """

    in_memory: int = 0
    every: bool = False
    keep: Keep = nowhere


class Recorder:
    """Stands between the loop and the step. It costs a step little: answers are remembered as they were given, and never copied."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._last: deque[RecordedStep] = deque(maxlen=keeping.in_memory)
        self._taken: dict[Key, RecordedStep] = {}
        self._failed: dict[Key, str] = {}

    def take(self, take: StepFunction, view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
        """Takes a step for a key, by `take`, and remembers it until its `result` is known."""
        outcome, self._taken[key] = record_step(view, key, now, context, take)
        return outcome

    def result(self, result: Result[Key]) -> None:
        """Hears what came of a look. One that ended because something was not known yet is none: it comes again."""
        taken = self._taken.pop(result.key, None)
        if taken is None or isinstance(result.error, NotSynced):
            return
        taken.held, taken.writes = result.held, [_write(one) for one in result.outcomes]
        self._last.append(taken)
        before, why = self._failed.pop(result.key, ""), _fault(taken, result.error)
        if why:
            self._failed[result.key] = why
        if why and why != before:
            self._keeping.keep(taken, "failed")
        elif self._keeping.every:
            self._keeping.keep(taken, "step")

    def hand_over(self) -> None:
        """Hands over what is held in memory, the oldest first: somebody wants to see it."""
        while self._last:
            self._keeping.keep(self._last.popleft(), "asked")


def _fault(taken: RecordedStep, error: Exception | None) -> str:
    """Why a rule or the program failed; empty where all went as it should, or nobody but the server is to blame."""
    if isinstance(taken.outcome, Hold) and taken.outcome.is_fault:
        return taken.outcome.reason
    return "" if error is None or isinstance(error, ApplierError) else taken.held


def _write(outcome: Outcome) -> Manifest:
    value = {"action": str(outcome.action), "object": str(outcome.step.ref), "reason": outcome.reason or outcome.step.reason}
    return {name: text for name, text in value.items() if text}
