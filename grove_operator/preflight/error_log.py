"""Logs errors of the gang controller, each once until it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.errors import NotSynced
from applier.loop import Result
from applier.outcome import Action
from grove_compiler.preflight_gang import GangKey
from grove_operator.preflight.gangs import Key


class ErrorLog:
    """Logs one line when the reconciliation of a key fails for a new reason, and one when it succeeds again."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._errors: dict[Key, str] = {}

    def __call__(self, result: Result[Key]) -> None:
        """Takes the result of a gang or a pod."""
        error = "; ".join(dict.fromkeys(_errors(result)))
        if error == self._errors.get(result.key, ""):
            return
        if error:
            self._errors[result.key] = error
            self._log(f"{_name(result.key)}: {error}")
        else:
            del self._errors[result.key]
            self._log(f"{_name(result.key)}: resolved")


def _errors(result: Result[Key]) -> Iterator[str]:
    """Yields why a reconciliation failed; nothing while the cache is not synced, as it is then repeated."""
    if result.held and not isinstance(result.error, NotSynced):
        yield result.held
    for outcome in result.outcomes:
        if outcome.action in (Action.FAILED, Action.HELD) and not isinstance(outcome.error, NotSynced):
            yield f"{outcome.step.ref}: {outcome.reason or outcome.error or outcome.action}"


def _name(key: Key) -> str:
    return f"gang {key.namespace}/{key.name}" if isinstance(key, GangKey) else f"pod {key.namespace}/{key.pod}"
