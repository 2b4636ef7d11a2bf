"""What the operator writes to its log: one line for each thing that a person would want to know."""

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

    A look that wrote something is one line at the level `info`, and at `debug` one more for each object, with the reason. What was held
    or failed is told once, and again when the reason changes: a key that waits is looked at for hours.
    """

    def __init__(self, stream: TextIO, config: Manifest, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._stream, self._now = stream, now
        self.configure(config)
        self._told: dict[Key, str] = {}

    def configure(self, config: Manifest) -> None:
        """Takes `logFormat` and `logLevel` of a configuration."""
        self._is_json = config.get("logFormat") == "json"
        self._level = LEVELS.index(config["logLevel"]) if config.get("logLevel") in LEVELS else 1

    def line(self, message: str, level: str = "info", **fields: object) -> None:
        """Writes one line, unless its level is left out."""
        if LEVELS.index(level) < self._level:
            return
        stamp = self._now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        if self._is_json:
            # Keys and references are tuples to a writer of JSON, and a name to people.
            values = {name: value if isinstance(value, int | float | None) else str(value) for name, value in fields.items()}
            text = json.dumps({"ts": stamp, "level": level, "msg": message, **values})
        else:
            text = " ".join([stamp, f"{level:5}", message, *(f"{name}={_as_text(value)}" for name, value in fields.items())])
        print(text, file=self._stream, flush=True)

    def result(self, result: Result[Key]) -> None:
        """Tells what came of a look at a key."""
        reason = result.held or _why_undone(result.outcomes)
        if reason != self._told.get(result.key, ""):
            self._told[result.key] = reason
            if reason:
                self.line("held" if result.held else "not done", "error", key=result.key, reason=reason)
        if not reason:
            self._told.pop(result.key, None)
        done = [one for one in result.outcomes if one.action in WRITTEN or one.action is Action.PRUNED]
        if done:
            self.line("decided", key=result.key, **_by_action(done))
        for one in done:
            self.line(str(one.action), "debug", key=result.key, object=one.step.ref, reason=one.reason or one.step.reason)


def _by_action(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """`created: 3 Pod, 1 Service`, and the same for what was configured, made anew and pruned."""
    counts: dict[str, Counter[str]] = {}
    for one in outcomes:
        counts.setdefault(str(one.action), Counter())[one.step.ref.kind] += 1
    return {action: ", ".join(f"{count} {kind}" for kind, count in kinds.items()) for action, kinds in counts.items()}


def _as_text(value: object) -> str:
    """A value that holds blanks or quotes in quotes, so that a line can be cut into its fields; newlines never end one."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if any(char in text for char in ' "=\n\t') else text


def _why_undone(outcomes: Iterable[Outcome]) -> str:
    """One sentence for each reason, with the first object that it is true of. Not told is what only waits for something that failed, and
    what somebody else was faster with: that is looked at again at once."""
    undone = [one for one in outcomes if one.action in UNDONE and not isinstance(one.error, WriteConflict)]
    failed = [one for one in undone if one.action is Action.FAILED]
    by_reason: dict[str, list[Outcome]] = {}
    for one in failed or undone:
        by_reason.setdefault(one.reason, []).append(one)
    return "; ".join(f"{_several(some)}: {reason}" for reason, some in by_reason.items())


def _several(outcomes: list[Outcome]) -> str:
    first = f"{outcomes[0].step.ref}"
    return first if len(outcomes) == 1 else f"{first} and {len(outcomes) - 1} more"
