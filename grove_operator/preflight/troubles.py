"""Tells people what the gang controller cannot do, once until it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.errors import NotSynced
from applier.loop import Result
from applier.outcome import Action
from grove_compiler.preflight_gang import GangKey
from grove_operator.preflight.gangs import Key


class Troubles:
    """Hears what came of each look, and tells one line about each that went wrong for a new reason, and about each that is over."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: dict[Key, str] = {}

    def __call__(self, result: Result[Key]) -> None:
        """Takes a look at a gang or a pod."""
        text = "; ".join(dict.fromkeys(_reasons(result)))
        if text == self._told.get(result.key, ""):
            return
        if text:
            self._told[result.key] = text
            self._tell(f"{_name(result.key)}: {text}")
        else:
            del self._told[result.key]
            self._tell(f"{_name(result.key)}: all is well again")


def _reasons(result: Result[Key]) -> Iterator[str]:
    """Why it is not as it should be. What is not known yet is known a moment later."""
    if result.held and not isinstance(result.error, NotSynced):
        yield result.held
    for outcome in result.outcomes:
        if outcome.action in (Action.FAILED, Action.HELD) and not isinstance(outcome.error, NotSynced):
            yield f"{outcome.step.ref}: {outcome.reason or outcome.error or outcome.action}"


def _name(key: Key) -> str:
    return f"gang {key.namespace}/{key.name}" if isinstance(key, GangKey) else f"pod {key.namespace}/{key.pod}"
