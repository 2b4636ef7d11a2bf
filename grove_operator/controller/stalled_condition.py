"""Reports why keys cannot be reconciled: in the condition `Stalled` of their set, and in an event.

No rule can report this, because a key is held when its rules fail or its input is invalid. `Stalled` is the condition by which kstatus, and
tools that wait with it, recognise that waiting will not help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from applier.loop import Result
from applier.ref import Ref
from grove_compiler.engine.runtime.results import Event, StatusCondition, StatusPatch, event_name
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.live_object import STALLED
from grove_compiler.step import Key, StepHold
from grove_operator.controller.write_failures import WriteFailures

CONDITION = STALLED
HELD, REFUSED = "Held", "Refused"
MAX_FINDINGS = 5


class Stall(NamedTuple):
    """Why an object cannot be reconciled.

    `reason` is the CamelCase reason of the condition and the event, `message` their message; `scope` is the prefix of the condition's
    message that names the replica concerned, empty for the set itself.
    """

    reason: str
    message: str
    scope: str


class StallTracker:
    """Tracks which keys are held and which objects the server refuses. A set has one condition for itself and all its replicas.

    The condition describes one replica only, and the same one for as long as that replica is stalled: an invalid rule holds all 500
    replicas of a set, and a condition with their count, or with the lowest index, would be written each time that one of them is evaluated.
    Nothing is persisted: after a restart the next evaluation of each key finds out again. Methods that record something return whether the
    condition of the set changes.
    """

    def __init__(self) -> None:
        self._messages: dict[Key, dict[tuple[int, str], str]] = {}  # by set; then by replica (-1 for the set itself) and reason
        self._reported: dict[Key, tuple[int, str]] = {}  # by set: the replica and reason that its condition describes
        self._failures = WriteFailures()

    def hold(self, key: Key, message: str) -> bool:
        """Records that a key is held."""
        return self._note(key, HELD, f"nothing is changed: {message}")

    def release(self, key: Key, *, gone: bool = False) -> bool:
        """Records that a key is no longer held. For a set that is `gone` everything about its replicas is forgotten as well."""
        if gone:
            self._failures.forget(key)
        if gone and key.replica is None:
            self._reported.pop(key, None)
            return self._messages.pop(key, None) is not None
        return self._note(key, HELD, "") | (gone and self._note(key, REFUSED, ""))

    def observe(self, result: Result[Key], now: float) -> bool:
        """Records objects that the server does not take."""
        if result.held or result.error is not None:
            return False
        is_changed = self._failures.observe(result, now)
        return self._note(result.key, REFUSED, next(iter(self.refused(result.key).values()), "")) | is_changed

    def refused(self, key: Key) -> Mapping[Ref, str]:
        """Returns the objects that the server did not take at the last reconciliation of a key, with a message for each."""
        return self._failures.reported(key)

    def stall(self, key: Key) -> Stall | None:
        """Returns why the set of a key, or one of its replicas, is stalled; none when it is not."""
        messages = self._messages.get(set_key(key))
        if not messages:
            self._reported.pop(set_key(key), None)
            return None
        reported = self._reported.get(set_key(key))
        if reported not in messages or min(messages)[0] < 0:
            reported = min(messages)
        self._reported[set_key(key)] = reported
        index, reason = reported
        return Stall(reason, messages[reported], f"replica {index}: " if index >= 0 else "")

    def _note(self, key: Key, reason: str, message: str) -> bool:
        """Records a message for a key and reason, or removes it when it is empty. Returns whether the set's stall changes."""
        before, place = self.stall(key), (-1 if key.replica is None else key.replica, reason)
        messages = self._messages.setdefault(set_key(key), {})
        if message:
            messages[place] = message
        else:
            messages.pop(place, None)
        if not messages:
            del self._messages[set_key(key)]
        return self.stall(key) != before


def hold_message(hold: StepHold) -> str:
    """Returns why a key is held: its first `MAX_FINDINGS` errors and the number of the others, or the reason of the hold."""
    errors: Sequence[Diagnostic] = [finding for finding in hold.findings if finding.severity == "error"]
    if not errors:
        return hold.reason
    sentences = [f"{error.path}: {error.message}" if error.path else error.message for error in errors[:MAX_FINDINGS]]
    more = [f"and {len(errors) - MAX_FINDINGS} more"] if len(errors) > MAX_FINDINGS else []
    return "; ".join([*sentences, *more])


def stalled_condition(of: ObjectRef, stall: Stall) -> StatusCondition:
    """Returns the condition of an object that is stalled, or a replica of which is."""
    return StatusCondition(of, CONDITION, "True", stall.reason, stall.scope + stall.message, "")


def stalled_event(of: ObjectRef, stall: Stall) -> Event:
    """Returns the event about a stall. Its name depends on the message and not on the replica, so that each message is recorded once."""
    return Event(of, "Warning", stall.reason, stall.message, event_name(of, stall.reason, stall.message), "")


def current_status(of: ObjectRef, live: Manifest) -> StatusPatch:
    """Returns the live status of an object without its `Stalled` condition.

    It is applied along with the condition, because server-side apply removes the fields of its manager that it does not send.
    """
    status = live.get("status") or {}
    conditions = [condition for condition in status.get("conditions") or [] if condition.get("type") != CONDITION]
    return StatusPatch(of, {**status, "observedGeneration": live["metadata"].get("generation", 0), "conditions": conditions}, "", ())


def set_key(key: Key) -> Key:
    """Returns the key of the set that a replica belongs to; any other key unchanged."""
    return key._replace(replica=None)
