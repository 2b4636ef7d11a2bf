"""Records the operator's evaluations of keys for replay: the last ones in memory, or each one on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from applier.errors import ApplierError, NotSynced
from applier.loop import Result
from applier.outcome import Outcome
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.record import record
from grove_compiler.replay.bundle import RecordedStep
from grove_compiler.replay.replay import StepFunction, record_step
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult

Trigger = Literal["step", "failed", "asked"]
"""Why an evaluation is written: all of them are, it failed, or the user requested those in memory."""
Write = Callable[[RecordedStep, Trigger], None]


def discard(_: RecordedStep, __: Trigger) -> None:
    """Writes nothing."""


@record
class Retention:
    """Which evaluations are retained: the last `in_memory` until `flush`. With `every` each one is passed to `write` at once.

    One in which a rule or the program failed is always written, once for each reason for which the key fails.
    """

    in_memory: int = 0
    every: bool = False
    write: Write = discard


class StepRecorder:
    """Records the queries of each step and their answers. Its overhead is small: answers are referenced and not copied."""

    def __init__(self, retention: Retention) -> None:
        self._retention = retention
        self._last: deque[RecordedStep] = deque(maxlen=retention.in_memory)
        self._unfinished: dict[Key, RecordedStep] = {}
        self._failed: dict[Key, str] = {}

    def record(
        self, take: StepFunction, view: ObjectReader, key: Key, now: float, context: StepContext
    ) -> StepResult | StepGone | StepHold:
        """Calls the step function `take` for a key, and records the call until `finish` adds its result."""
        outcome, self._unfinished[key] = record_step(view, key, now, context, take)
        return outcome

    def finish(self, result: Result[Key]) -> None:
        """Adds the result of a reconciliation to its record. One for which the cache was not synced is dropped, as it is repeated."""
        taken = self._unfinished.pop(result.key, None)
        if taken is None or isinstance(result.error, NotSynced):
            return
        taken.held, taken.writes = result.held, [_write(outcome) for outcome in result.outcomes]
        self._last.append(taken)
        before, fault = self._failed.pop(result.key, ""), _fault(taken, result.error)
        if fault:
            self._failed[result.key] = fault
        if fault and fault != before:
            self._retention.write(taken, "failed")
        elif self._retention.every:
            self._retention.write(taken, "step")

    def flush(self) -> None:
        """Writes the records in memory, the oldest first."""
        while self._last:
            self._retention.write(self._last.popleft(), "asked")


def _fault(taken: RecordedStep, error: Exception | None) -> str:
    """Returns why a rule or the program failed; empty for success, and for failures of the server."""
    if isinstance(taken.outcome, StepHold) and taken.outcome.is_fault:
        return taken.outcome.reason
    return "" if error is None or isinstance(error, ApplierError) else taken.held


def _write(outcome: Outcome) -> Manifest:
    value = {"action": str(outcome.action), "object": str(outcome.step.ref), "reason": outcome.reason or outcome.step.reason}
    return {name: text for name, text in value.items() if text}
