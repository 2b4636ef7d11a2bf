"""Writes the operator's log, as text or JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TextIO

from applier.errors import WriteConflict
from applier.loop import Result
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from grove_compiler.graph.node import Manifest
from grove_compiler.step import Key

LEVELS = ("debug", "info", "error")


class Log:
    """Writes lines of text or JSON, as the configuration's `logFormat` and `logLevel` say (shipped semantics §1.13).

    A reconciliation that wrote objects is one line at the level `info`, and at `debug` one more for each object, with the reason. A hold or
    failure is logged once, and again when its reason changes: a key that waits is reconciled for hours.
    """

    def __init__(self, stream: TextIO, config: Manifest, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._stream, self._now = stream, now
        self.configure(config)
        self._reasons: dict[Key, str] = {}  # by key, the reason that was logged last

    def configure(self, config: Manifest) -> None:
        """Applies `logFormat` and `logLevel` of a configuration."""
        self._is_json = config.get("logFormat") == "json"
        self._level = LEVELS.index(config["logLevel"]) if config.get("logLevel") in LEVELS else 1

    def line(self, message: str, level: str = "info", **fields: object) -> None:
        """Writes one line, unless its level is below the configured one."""
        if LEVELS.index(level) < self._level:
            return
        stamp = self._now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        if self._is_json:
            # Keys and references are named tuples, which would be written as lists.
            values = {name: value if isinstance(value, int | float | None) else str(value) for name, value in fields.items()}
            text = json.dumps({"ts": stamp, "level": level, "msg": message, **values})
        else:
            text = " ".join([stamp, f"{level:5}", message, *(f"{name}={_as_text(value)}" for name, value in fields.items())])
        print(text, file=self._stream, flush=True)

    def result(self, result: Result[Key]) -> None:
        """Logs the result of a reconciliation."""
        reason = result.held or _failure(result.outcomes)
        if reason != self._reasons.get(result.key, ""):
            self._reasons[result.key] = reason
            if reason:
                self.line("held" if result.held else "not done", "error", key=result.key, reason=reason)
        if not reason:
            self._reasons.pop(result.key, None)
        written = [outcome for outcome in result.outcomes if outcome.action in WRITTEN or outcome.action is Action.PRUNED]
        if written:
            self.line("decided", key=result.key, **_by_action(written))
        for outcome in written:
            reason = outcome.reason or outcome.step.reason
            self.line(str(outcome.action), "debug", key=result.key, object=outcome.step.ref, reason=reason)


def _by_action(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Returns the numbers of objects by action, as in `created: 3 Pod, 1 Service`."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(str(outcome.action), Counter())[outcome.step.ref.kind] += 1
    return {action: ", ".join(f"{count} {kind}" for kind, count in kinds.items()) for action, kinds in counts.items()}


def _as_text(value: object) -> str:
    """Quotes a value with blanks, quotes or newlines, so that every line can be split into its fields."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if any(char in text for char in ' "=\n\t') else text


def _failure(outcomes: Iterable[Outcome]) -> str:
    """Returns the reasons of failures, each with its first object.

    Objects that wait for a failed one are left out, and so are write conflicts, which are retried at once.
    """
    undone = [outcome for outcome in outcomes if outcome.action in UNDONE and not isinstance(outcome.error, WriteConflict)]
    failed = [outcome for outcome in undone if outcome.action is Action.FAILED]
    by_reason: dict[str, list[Outcome]] = {}
    for outcome in failed or undone:
        by_reason.setdefault(outcome.reason, []).append(outcome)
    return "; ".join(f"{_objects(group)}: {reason}" for reason, group in by_reason.items())


def _objects(outcomes: list[Outcome]) -> str:
    first = f"{outcomes[0].step.ref}"
    return first if len(outcomes) == 1 else f"{first} and {len(outcomes) - 1} more"
