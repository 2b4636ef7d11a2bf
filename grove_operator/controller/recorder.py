"""Records the operator's evaluations of keys for replay: the last ones in memory, or each one on disk."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from applier.errors import ApplierError, NotSynced
from applier.loop import Result
from applier.outcome import Outcome
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.record import record
from grove_compiler.replay.bundle import RecordedStep, encode
from grove_compiler.replay.replay import StepFunction, record_step
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult

Trigger = Literal["step", "failed", "asked"]
"""Why an evaluation is written: all of them are, it failed, or the user requested those in memory."""
Write = Callable[[RecordedStep, Trigger], None]
_NAME = re.compile(r"(step|failed|asked)-\d{8}T\d{6}Z-\d{6}-.*\.json")
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
MAX_NAME_LENGTH = 200
"""Characters of a key in the name of a file; most file systems allow 255 for the whole name."""


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


class BundleFolder:
    """Writes bundles into `path`, which the first one creates. Bundles of earlier processes count.

    Up to `most` bundles of each trigger are retained, so that those of failures, which people look for, are not displaced by others.
    """

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most = Path(path), most
        self._number = 0
        self._names: dict[str, deque[str]] | None = None

    def write(self, taken: RecordedStep, trigger: Trigger) -> Path:
        """Writes a bundle and returns its file. Raises `OSError`."""
        names = self._existing().setdefault(trigger, deque())
        self._number = (self._number + 1) % 1_000_000
        stamp = re.sub("[-:]", "", timestamp(taken.now))
        path = self._path / f"{trigger}-{stamp}-{self._number:06}-{_UNSAFE.sub('_', str(taken.key))[:MAX_NAME_LENGTH].strip('_')}.json"
        unfinished = path.with_suffix(".tmp")
        # Only the user may read the file, as it has manifests that not everybody may read in the cluster.
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as stream:
            stream.write(encode(taken))
        unfinished.replace(path)
        names.append(path.name)
        while len(names) > self._most:
            (self._path / names.popleft()).unlink(missing_ok=True)
        return path

    def _existing(self) -> dict[str, deque[str]]:
        if self._names is None:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._names = {}
            for name in sorted(os.listdir(self._path)):
                if name.endswith(".tmp") and _NAME.fullmatch(f"{name[:-4]}.json"):
                    (self._path / name).unlink(missing_ok=True)  # of a process that ended during the write
                if match := _NAME.fullmatch(name):
                    self._names.setdefault(match[1], deque()).append(name)
        return self._names
