"""What keeps keys from being as they should: said of the set that they are about, in its condition `Stalled` and in an event.

No rule can say it, for a key is held where its rules fail or its input is wrong. `Stalled` is the word of kstatus, by which tools that wait
for any kind of object know that waiting will not help.
"""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.engine.runtime.results import Condition, Event, StatusPatch, event_name
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.step import Hold, Key

CONDITION, REASON = "Stalled", "Held"
MOST_FINDINGS = 5


class Troubles:
    """Remembers which keys are held. A set bears one condition for itself and all of its replicas, written by its own key.

    It speaks of the first held replica alone: a bad rule holds all 500 of them, and a condition that counted them would be written 500
    times. What is remembered is worked out anew by the next look at each key, so that nothing is lost when the program starts again.
    """

    def __init__(self) -> None:
        self._held: dict[Key, dict[int, str]] = {}

    def hold(self, key: Key, why: str) -> bool:
        """Takes down that a replica of a set is held. Tells whether the set has something else to say by that."""
        before = self.of(key)
        self._held.setdefault(whole(key), {})[_index(key)] = why
        return self.of(key) != before

    def release(self, key: Key, *, gone: bool = False) -> bool:
        """Takes down that a key is not held any more. Tells whether the set has something else to say by that.

        With a set that is `gone` all that was known of its replicas is forgotten.
        """
        before = self.of(key)
        if gone and key.replica is None:
            self._held.pop(key, None)
        elif held := self._held.get(whole(key)):
            held.pop(_index(key), None)
            if not held:
                del self._held[whole(key)]
        return self.of(key) != before

    def of(self, key: Key) -> str:
        """Returns why a set is held, or the first replica of it; empty when nothing is."""
        held = self._held.get(whole(key))
        if not held:
            return ""
        first = min(held)
        return f"replica {first}: {held[first]}" if first >= 0 else held[first]


def words(hold: Hold) -> str:
    """Returns why a key is held in the words of all that is wrong, or of the first findings where there are many."""
    errors: Sequence[Diagnostic] = [one for one in hold.findings if one.severity == "error"]
    if not errors:
        return hold.reason
    sentences = [f"{one.path}: {one.message}" if one.path else one.message for one in errors[:MOST_FINDINGS]]
    more = [f"and {len(errors) - MOST_FINDINGS} more"] if len(errors) > MOST_FINDINGS else []
    return "; ".join([*sentences, *more])


def condition(of: ObjectRef, why: str) -> Condition:
    """Returns the condition that an object bears while it, or a replica of it, stays as it is."""
    return Condition(of, CONDITION, "True", REASON, f"everything stays as it is: {why}", "")


def event(of: ObjectRef, why: str) -> Event:
    """Returns the event that tells of it: one for the same words, however often a key is looked at."""
    return Event(of, "Warning", REASON, f"everything stays as it is: {why}", event_name(of, REASON, why), "")


def status_as_it_is(of: ObjectRef, live: Manifest) -> StatusPatch:
    """Returns the status that an object has, to be written beside the condition: who applies a part of a status takes the rest away."""
    status = live.get("status") or {}
    borne = [one for one in status.get("conditions") or [] if one.get("type") != CONDITION]
    return StatusPatch(of, {**status, "observedGeneration": live["metadata"].get("generation", 0), "conditions": borne}, "", ())


def whole(key: Key) -> Key:
    """Returns the key of the set that a replica belongs to; the key itself for any other."""
    return key._replace(replica=None)


def _index(key: Key) -> int:
    return -1 if key.replica is None else key.replica
