"""What keeps keys from being as they should: said of the set that they are about, in its condition `Stalled` and in an event.

No rule can say it, for a key is held where its rules fail or its input is wrong. `Stalled` is the word of kstatus, by which tools that wait
for any kind of object know that waiting will not help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from applier.errors import Forbidden, Invalid
from applier.loop import Result
from applier.outcome import Action
from applier.ref import Ref
from grove_compiler.engine.runtime.results import Condition, Event, StatusPatch, event_name
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.live_object import STALLED
from grove_compiler.step import Hold, Key

CONDITION = STALLED
HELD, REFUSED = "Held", "Refused"
MOST_FINDINGS = 5


class Trouble(NamedTuple):
    """Why something is not as it should be: `reason` is one word in CamelCase, `words` a sentence, `where` the replica that it is about."""

    reason: str
    words: str
    where: str


class Troubles:
    """Remembers which keys are held, and of which the server refuses something. A set bears one condition for itself and its replicas.

    It speaks of one replica alone, of the same as long as it is in trouble: a bad rule holds all 500 of them, and a condition that counted
    them, or that told of the first by index, would be written as often as they happen to be looked at.
    What is remembered is worked out anew by the next look at each key, so that nothing is lost when the program starts again. Each
    method that takes something down tells whether the set has something else to say by that.
    """

    def __init__(self) -> None:
        self._known: dict[Key, dict[tuple[int, str], str]] = {}  # by set; by replica, -1 for the set itself, and reason
        self._told_of: dict[Key, tuple[int, str]] = {}  # by set
        self._refused: dict[Key, dict[Ref, str]] = {}

    def hold(self, key: Key, why: str) -> bool:
        """Takes down that a key is held."""
        return self._note(key, HELD, f"everything stays as it is: {why}")

    def release(self, key: Key, *, gone: bool = False) -> bool:
        """Takes down that a key is not held any more. With a set that is `gone` all that was known of its replicas is forgotten."""
        if gone:
            self._refused.pop(key, None)
        if gone and key.replica is None:
            self._told_of.pop(key, None)
            return self._known.pop(key, None) is not None
        return self._note(key, HELD, "") | (gone and self._note(key, REFUSED, ""))

    def look_at(self, result: Result[Key]) -> bool:
        """Takes down what the server refused for what it is: it would refuse it again. What merely failed is tried again and not told.

        What was not even tried, as its kind cannot be read, is taken down as well.
        """
        if result.held or result.error is not None:
            return False
        failed = [one for one in result.outcomes if one.action is Action.FAILED]
        denied = [one for one in failed if isinstance(one.error, (Invalid, Forbidden))]
        refused = {one.step.ref: f"the server refuses {one.step.ref}: {one.reason}" for one in denied}
        refused |= {one.step.ref: f"{one.step.ref} is left as it is: {one.reason}" for one in failed if one.error is None}
        is_news = refused != self._refused.pop(result.key, {})
        if refused:
            self._refused[result.key] = refused
        return self._note(result.key, REFUSED, next(iter(refused.values()), "")) | is_news

    def refused(self, key: Key) -> Mapping[Ref, str]:
        """Returns what the server refused when a key was last looked at, with its words."""
        return self._refused.get(key, {})

    def of(self, key: Key) -> Trouble | None:
        """Returns what keeps a set from being as it should, or one of its replicas; none when nothing does."""
        known = self._known.get(whole(key))
        if not known:
            self._told_of.pop(whole(key), None)
            return None
        told_of = self._told_of.get(whole(key))
        if told_of not in known or min(known)[0] < 0:
            told_of = min(known)
        self._told_of[whole(key)] = told_of
        index, reason = told_of
        return Trouble(reason, known[told_of], f"replica {index}: " if index >= 0 else "")

    def _note(self, key: Key, reason: str, message: str) -> bool:
        before, place = self.of(key), (-1 if key.replica is None else key.replica, reason)
        known = self._known.setdefault(whole(key), {})
        if message:
            known[place] = message
        else:
            known.pop(place, None)
        if not known:
            del self._known[whole(key)]
        return self.of(key) != before


def words(hold: Hold) -> str:
    """Returns why a key is held in the words of all that is wrong, or of the first findings where there are many."""
    errors: Sequence[Diagnostic] = [one for one in hold.findings if one.severity == "error"]
    if not errors:
        return hold.reason
    sentences = [f"{one.path}: {one.message}" if one.path else one.message for one in errors[:MOST_FINDINGS]]
    more = [f"and {len(errors) - MOST_FINDINGS} more"] if len(errors) > MOST_FINDINGS else []
    return "; ".join([*sentences, *more])


def condition(of: ObjectRef, trouble: Trouble) -> Condition:
    """Returns the condition that an object bears as long as it, or a replica of it, cannot be as it should."""
    return Condition(of, CONDITION, "True", trouble.reason, trouble.where + trouble.words, "")


def event(of: ObjectRef, trouble: Trouble) -> Event:
    """Returns the event that tells of it: one for the same words, however often and whatever replica is looked at."""
    return Event(of, "Warning", trouble.reason, trouble.words, event_name(of, trouble.reason, trouble.words), "")


def status_as_it_is(of: ObjectRef, live: Manifest) -> StatusPatch:
    """Returns the status that an object has, to be written beside the condition: who applies a part of a status takes the rest away."""
    status = live.get("status") or {}
    borne = [one for one in status.get("conditions") or [] if one.get("type") != CONDITION]
    return StatusPatch(of, {**status, "observedGeneration": live["metadata"].get("generation", 0), "conditions": borne}, "", ())


def whole(key: Key) -> Key:
    """Returns the key of the set that a replica belongs to; the key itself for any other."""
    return key._replace(replica=None)
