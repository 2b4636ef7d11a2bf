"""Debounces statuses of PodCliques and scaling groups that lose ready pods: most deleted pods are replaced before the delay ends.

What is then left to report is that the new pods have other names, which waits for a status that is written anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

from applier.desired import StatusWrite
from applier.ref import Manifest
from grove_compiler.model.inputs.snapshot import Objects

DELAY = 1.0
"""Seconds. A deleted pod whose image is on the node is replaced and ready in less. Without the delay its replacement costs five status
writes, of its PodClique and of its set, in addition to the three that replace it."""
DEBOUNCED_COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}
"""The status field, by kind, whose decrease is delayed."""
ENDINGS = ("attempt", "succeededIndexes", "lostSince", "failure")
"""Status fields that record how pods of a training workload ended. Those pods are not replaced and the set acts on the change, so that a
status that changes one of these fields is written at once."""
NAMES = "podNameCounts"
NAMES_DELAY = 5.0
"""Seconds after which a status is written in which nothing has changed but the names of pods. Until then an operator knows them from what
it has watched; the next one would not."""
EXPIRY = 60.0
"""Seconds after which a delayed status that was never evaluated again is forgotten: its object no longer exists."""


class StatusDebounce:
    """Tracks since when objects have fewer ready pods than their statuses report. After a restart of the process delays begin again."""

    def __init__(self) -> None:
        # By UID, the oldest first.
        self._since: dict[str, float] = {}
        self._since_names: dict[str, float] = {}

    def filter(self, writes: Iterable[StatusWrite], objects: Objects, now: float) -> tuple[list[StatusWrite], list[float]]:
        """Returns the statuses to write now, and the remaining delay in seconds of each of the others."""
        ready, delays = list[StatusWrite](), list[float]()
        for write in writes:
            remaining = self._delay(write, objects, now)
            if remaining > 0:
                delays.append(remaining)
            else:
                ready.append(write)
        return ready, delays

    def _delay(self, write: StatusWrite, objects: Objects, now: float) -> float:
        """Returns for how many seconds a status is not written yet."""
        ref, uid = write.of.ref, write.of.uid
        live = objects.get(ref.group, ref.kind, ref.namespace, ref.name)
        is_debounced, names_alone = (live is not None and test(write, live) for test in (_is_debounced, _reports_names_alone))
        for since, applies in ((self._since, is_debounced), (self._since_names, names_alone)):
            if applies:
                _expire(since, now)
                since.setdefault(uid, now)
            else:
                since.pop(uid, None)
        if is_debounced:
            return self._since[uid] + DELAY - now
        return self._since_names[uid] + NAMES_DELAY - now if names_alone else 0.0


def _expire(since: dict[str, float], now: float) -> None:
    while since and since[first := next(iter(since))] < now - EXPIRY:
        del since[first]


def _is_debounced(write: StatusWrite, live: Manifest) -> bool:
    """Returns whether ready pods were lost although neither the spec changed nor an update is in progress, which replaces pods itself."""
    new, old, count = write.status, live.get("status") or {}, DEBOUNCED_COUNTS.get(live["kind"])
    return (
        count is not None
        and new.get(count, 0) < old.get(count, 0)
        and new.get("observedGeneration") == old.get("observedGeneration")
        and all(new.get(field) == old.get(field) for field in ENDINGS)
        and not any(_is_in_progress(status.get("updateProgress")) for status in (new, old))
    )


def _reports_names_alone(write: StatusWrite, live: Manifest) -> bool:
    """Returns whether the names of pods are all that a status changes."""
    new, old = write.status, live.get("status") or {}
    return new.get(NAMES) != old.get(NAMES) and all(value == old.get(field) for field, value in new.items() if field != NAMES)


def _is_in_progress(update: Manifest | None) -> bool:
    return bool(update) and not (update or {}).get("updateEndedAt")
