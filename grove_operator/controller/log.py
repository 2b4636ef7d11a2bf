"""What the operator writes to its log: one line for each thing that a person would want to know."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from applier.errors import WriteConflict
from applier.loop import Result
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from grove_compiler.graph.node import Manifest
from grove_compiler.step import Key

LEVELS = ("debug", "info", "error")


class Log:
    """Writes lines of text or JSON, as the configuration's `logFormat` and `logLevel` say (shipped semantics §1.13).

    What was held or failed is told once, and again when the reason changes: a key that waits is looked at for hours.
    """

    def __init__(self, stream: TextIO, config: Manifest) -> None:
        self._stream = stream
        self._is_json = config.get("logFormat") == "json"
        self._level = LEVELS.index(config["logLevel"]) if config.get("logLevel") in LEVELS else 1
        self._told: dict[Key, str] = {}

    def line(self, message: str, level: str = "info", **fields: object) -> None:
        """Writes one line, unless its level is left out."""
        if LEVELS.index(level) < self._level:
            return
        if self._is_json:
            text = json.dumps({"level": level, "msg": message, **fields}, default=str)
        else:
            text = " ".join([message, *(f"{name}={value}" for name, value in fields.items())])
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
        for one in result.outcomes:
            if one.action in WRITTEN or one.action is Action.PRUNED:
                self.line(str(one.action), "debug", key=result.key, object=one.step.ref, reason=one.reason)


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
