"""Tracks which keys are held and which objects cannot be written, and reports it: in the condition `Stalled` of their set, and in an event.

No rule can report this, because a key is held when its rules fail or its input is invalid. `Stalled` is the condition by which kstatus, and
tools that wait with it, recognise that waiting will not help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from applier.errors import Forbidden, Invalid
from applier.loop import Result
from applier.outcome import Action, Obstacle, Outcome
from applier.ref import Ref
from grove_compiler.engine.runtime.results import Event, StatusCondition, StatusPatch, event_name
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import HELD, STALLED, condition_of
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.step import Key, StepHold, StepResult
from grove_operator.controller.live_objects import COMPUTE_DOMAIN
from grove_operator.controller.statuses import live_of

GRACE = 10.0
"""Seconds for which a failure that may pass by itself is not reported: a server that restarts, a webhook that is rolled out."""
MIN_WORDING = 60.0
"""Seconds for which the words of a report stay. Each change is written, and tried at once: a policy that words each rejection anew, with
the name of its own pod, say, would be asked without end."""
WAYS_OUT = "delete it, rename what conflicts with it, or hand it over with `grove adopt --field-manager grove-operator`"
"""What people can do about an object of somebody else that has the name of one of ours."""
CONTESTED = "is changed by another client, or an admission webhook, after each write of the operator, which writes it less and less often"
RECREATED = (
    "is created again and again, less and less often: another client, or an admission webhook, deletes it, or changes what it is found by"
)
OVERRIDDEN = "stays as it was when the operator writes it, since an admission webhook sets other values"
_NUMBERED = re.compile(r"[0-9a-f-]*[0-9][0-9a-f-]*")


class _Failure(NamedTuple):
    """Represents an object that cannot be written, `since` when, and the words for it, which date from `worded`."""

    message: str
    may_pass: bool
    since: float
    worded: float


class WriteFailures:
    """Tracks the objects that the server does not take at the last reconciliation of each key. Times are in seconds since the epoch."""

    def __init__(self) -> None:
        self._failures: dict[Key, dict[Ref, _Failure]] = {}
        self._reported: dict[Key, dict[Ref, str]] = {}

    def observe(self, result: Result[Key], now: float) -> bool:
        """Takes in what came of a reconciliation; returns whether what is reported of the key changes."""
        key = result.key
        known = self._failures.pop(key, {})
        failures = {ref: _followed(known.get(ref), message, may_pass, now) for ref, message, may_pass in _failures(result)}
        if any(outcome.is_last for outcome in result.outcomes):
            failures = {**known, **failures}
        reported = {ref: one.message for ref, one in failures.items() if not one.may_pass or now - one.since >= GRACE}
        is_changed = reported != self._reported.pop(key, {})
        if failures:
            self._failures[key] = failures
        if reported:
            self._reported[key] = reported
        return is_changed

    def reported(self, key: Key) -> Mapping[Ref, str]:
        """Returns the objects of which is reported that they cannot be written, with a message for each."""
        return self._reported.get(key, {})

    def are_known(self, key: Key) -> bool:
        """Reports whether all failures of a key are reported: none is so new that it may pass."""
        return len(self._failures.get(key, {})) == len(self.reported(key))


def _failures(result: Result[Key]) -> Iterator[tuple[Ref, str, bool]]:
    """Yields objects that were not written, or in vain; what is said of them, and whether the failure may pass by itself.

    What the server rejects for its content or by its access rules does not; nor does what was not tried, because its kind cannot be read or
    somebody else's object has its name.
    """
    for outcome in result.outcomes:
        ref = outcome.step.ref
        if ref in result.contested:
            yield ref, f"{ref} {CONTESTED}: {outcome.reason}", False
        elif outcome.action is Action.CREATED and ref in result.recreated:
            yield ref, f"each {ref.kind} of {result.recreated[ref]} {RECREATED}", False
        elif outcome.is_overridden:
            yield ref, f"{ref} {OVERRIDDEN}: {outcome.step.reason}", False
        elif outcome.is_blocked:
            yield ref, f"{ref} {outcome.reason}, and is made anew once it is gone", True
        elif outcome.step.obstacle is Obstacle.EARLIER:
            yield ref, f"{ref} {outcome.reason}; it is made anew once the garbage collector has deleted it", True
        elif outcome.step.is_foreign:
            yield ref, f"{ref} {outcome.reason}; {WAYS_OUT}", False
        elif outcome.action is not Action.FAILED or _waits_for_driver(outcome):
            continue
        elif outcome.error is None:
            yield ref, f"{ref} is left unchanged: {outcome.reason}", False
        elif isinstance(outcome.error, Invalid | Forbidden):
            yield ref, f"the server rejects {ref}: {outcome.reason}", False
        else:
            yield ref, f"{ref} cannot be written, which is tried again: {outcome.reason}", True


def _followed(known: _Failure | None, message: str, may_pass: bool, now: float) -> _Failure:
    """Returns what is known of a failure now: words that only differ in numbers stay, others for a while.

    A rejection counts at once, also where a failure came first that may have passed. Where the clock goes back, all times begin again.
    """
    if known is None:
        return _Failure(message, may_pass, now, now)
    known = known._replace(since=min(known.since, now), worded=min(known.worded, now))
    is_same = _without_numbers(known.message) == _without_numbers(message)
    if known.may_pass <= may_pass and (is_same or now - known.worded < MIN_WORDING):
        return known
    return _Failure(message, may_pass, known.since, now)


def _without_numbers(message: str) -> str:
    return _NUMBERED.sub("#", message)


def _waits_for_driver(outcome: Outcome) -> bool:
    """Returns whether a ComputeDomain waits for NVIDIA's driver, of which the condition ComputeDomainsUnavailable tells."""
    ref = outcome.step.ref
    return (ref.group, ref.kind) == (COMPUTE_DOMAIN.group, COMPUTE_DOMAIN.kind) and outcome.step.obstacle is Obstacle.UNSERVED


REFUSED = "Refused"
SCOPE = "replica "
"""How a message of a set begins that is about one of its replicas."""
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
    """Tracks which keys are held and which objects the server rejects. A set has one condition for itself and all its replicas.

    The condition describes one replica only, and the same one for as long as that replica is stalled: an invalid rule holds all 500
    replicas of a set, and a condition with their count, or with the lowest index, would be written each time that one of them is evaluated.
    Nothing is persisted: after a restart the next reconciliation of each key finds out again, and until then the conditions stay that an
    earlier process has reported. Methods that record something return whether the condition of the set changes.
    """

    def __init__(self) -> None:
        self._messages: dict[Key, dict[tuple[int, str], str]] = {}  # by set; then by replica (-1 for the set itself) and reason
        self._reported: dict[Key, tuple[int, str]] = {}  # by set: the replica and reason that its condition describes
        self._failures = WriteFailures()
        self._yielded: dict[Key, Mapping[Ref, str]] = {}
        self._known: dict[Key, dict[int, bool]] = {}  # by set: of its keys (-1 for itself), whether it is known what cannot be written
        self._kept: set[Key] = set()

    def hold(self, key: Key, message: str) -> bool:
        """Records that a key is held."""
        return self._note(key, HELD, f"nothing is changed: {message}")

    def keep(self, key: Key, message: str) -> bool:
        """Records that the present spec of a key is held, and its last valid one is followed."""
        self._known.setdefault(key.whole, {}).setdefault(_place(key), False)
        return self._note(key, HELD, f"the last valid spec stays in effect, and nothing is scaled in: {message}")

    def release(self, key: Key, *, gone: bool = False) -> bool:
        """Records that a key is no longer held; with a set that is `gone`, none of its replicas is.

        What the server rejects is known until a result says otherwise, also of what is left of a key that is gone: forgotten before, it
        would be news each time, and be tried at once.
        """
        if gone and key.replica is None:
            for index in self.held_replicas(key):
                self._note(key._replace(replica=index), HELD, "")
        known = self._known.setdefault(key.whole, {})
        if gone:
            self._yielded.pop(key, None)
            self._kept.discard(key)
            known.pop(_place(key), None)
        else:
            known.setdefault(_place(key), False)
        if not known or (gone and key.replica is None):
            del self._known[key.whole]
        return self._note(key, HELD, "")

    def held_replicas(self, key: Key) -> list[int]:
        """Returns the replicas of a set that are held."""
        return [index for index, reason in self._messages.get(key, ()) if reason == HELD and index >= 0]

    def observe(self, result: Result[Key], now: float) -> bool:
        """Records objects that the server does not take."""
        if result.held or result.error is not None:
            return False
        key, is_changed = result.key, self._failures.observe(result, now)
        known = self._known.get(key.whole, {})
        if known.get(_place(key)) is False and self._failures.are_known(key):
            known[_place(key)] = True
            is_changed |= not self._kept.isdisjoint((key, key.whole))
        return self._note(key, REFUSED, next(iter(self.refused(key).values()), "")) | is_changed

    def kept_conditions(self, key: Key, result: StepResult, objects: ObjectReader) -> list[StatusCondition]:
        """Returns the conditions that say that objects are stalled whose statuses are written now, until it is known whether they are.

        Before a process has reconciled a key, and all replicas of a set, it does not know what cannot be written, nor which are held.
        Whether the set itself is, the step has told.
        """
        self._kept.discard(key)
        known = self._known.get(key.whole, {})
        if all(map(known.get, (-1, *range(result.replicas)) if key.replica is None else (key.replica,))):
            return []
        reported = {condition.of for condition in result.conditions if condition.type == STALLED}
        told = {patch.of: condition_of(live_of(patch.of, objects), STALLED) for patch in result.statuses if patch.of not in reported}
        kept = list[StatusCondition]()
        for of, condition in told.items():
            reason, message = condition.get("reason", ""), condition.get("message", "")
            is_own_hold = reason == HELD and not message.startswith(SCOPE)
            if condition.get("status") == "True" and not is_own_hold:
                kept.append(StatusCondition(of, STALLED, "True", reason, message, ""))
        if kept:
            self._kept.add(key)
        return kept

    def refused(self, key: Key) -> Mapping[Ref, str]:
        """Returns the objects that the server did not take at the last reconciliation of a key, with a message for each.

        Those are among them for which the key yields, and which are not tried.
        """
        return {**self._yielded.get(key, {}), **self._failures.reported(key)}

    def yield_for(self, key: Key, refused: Mapping[Ref, str]) -> None:
        """Records for which of the rejected objects a key desires nothing at all; none ends that."""
        if refused:
            self._yielded[key] = refused
        else:
            self._yielded.pop(key, None)

    def stall(self, key: Key) -> Stall | None:
        """Returns why the set of a key, or one of its replicas, is stalled; none when it is not."""
        messages = self._messages.get(key.whole)
        if not messages:
            self._reported.pop(key.whole, None)
            return None
        reported = self._reported.get(key.whole)
        if reported not in messages or min(messages)[0] < 0:
            reported = min(messages)
        self._reported[key.whole] = reported
        index, reason = reported
        return Stall(reason, messages[reported], f"{SCOPE}{index}: " if index >= 0 else "")

    def _note(self, key: Key, reason: str, message: str) -> bool:
        """Records a message for a key and reason, or removes it when it is empty. Returns whether the set's stall changes."""
        before, place = self.stall(key), (_place(key), reason)
        messages = self._messages.setdefault(key.whole, {})
        if message:
            messages[place] = message
        else:
            messages.pop(place, None)
        if not messages:
            del self._messages[key.whole]
        return self.stall(key) != before


def _place(key: Key) -> int:
    return -1 if key.replica is None else key.replica


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
    return StatusCondition(of, STALLED, "True", stall.reason, stall.scope + stall.message, "")


def stalled_event(of: ObjectRef, stall: Stall) -> Event:
    """Returns the event about a stall. Its name depends on the message and not on the replica, so that each message is recorded once."""
    return Event(of, "Warning", stall.reason, stall.message, event_name(of, stall.reason, stall.message), "")


def current_status(of: ObjectRef, live: Manifest) -> StatusPatch:
    """Returns the live status of an object without its `Stalled` condition.

    It is applied along with the condition, because server-side apply removes the fields of its manager that it does not send.
    """
    status = live.get("status") or {}
    conditions = [condition for condition in status.get("conditions") or [] if condition.get("type") != STALLED]
    return StatusPatch(of, {**status, "observedGeneration": live["metadata"].get("generation", 0), "conditions": conditions}, "", ())
