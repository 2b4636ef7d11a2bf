"""Debounces statuses that most often are true for a moment only.

PodCliques and scaling groups that lose ready pods: most deleted pods are replaced before the delay ends. Bindings of topologies that begin
to drift: after an edit of their levels the operator writes KAI's Topology in the very step that finds the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from applier.desired import StatusWrite
from applier.ref import Manifest
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_operator.controller.inherited_conditions import InheritedConditions

DELAY = 1.0
"""Seconds. A deleted pod whose image is on the node is replaced and ready in less. Without the delay its replacement costs five status
writes, of its PodClique and of its set, in addition to the three that replace it."""
DEBOUNCED_COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}
"""The status field, by kind, whose decrease is delayed."""
DRIFT = "SchedulerTopologyDrift"
"""The condition of a binding whose beginning is delayed. The event about a topology of somebody else is not."""
ENDINGS = ("attempt", "succeededIndexes", "lostSince", "failure")
"""Status fields that record how pods of a training workload ended. Those pods are not replaced and the set acts on the change, so that a
status that changes one of these fields is written at once."""
EXPIRY = 60.0
"""Seconds after which a delayed status that was never evaluated again is forgotten: its object no longer exists."""


class StatusDebounce:
    """Tracks since when objects have fewer ready pods than their statuses report. After a restart of the process delays begin again."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}  # by UID, the oldest first
        self._inherited = InheritedConditions()

    def filter(self, writes: Iterable[StatusWrite], objects: ObjectReader, now: float) -> tuple[list[StatusWrite], list[float]]:
        """Returns the statuses to write now, and the remaining delay in seconds of each of the others."""
        ready, delays = list[StatusWrite](), list[float]()
        for write in writes:
            remaining = self._delay(write, objects, now)
            if remaining > 0:
                delays.append(remaining)
            else:
                ready.append(write)
        return ready, delays

    def _delay(self, write: StatusWrite, objects: ObjectReader, now: float) -> float:
        ref, uid = write.of.ref, write.of.uid
        live = objects.get(ref.group, ref.kind, ref.namespace, ref.name)
        if live is not None and (remaining := self._inherited.delay(write, live, now)):
            return remaining
        if live is None or not _is_debounced(write, live):
            self._since.pop(uid, None)
            return 0.0
        self._expire(now)
        return self._since.setdefault(uid, now) + DELAY - now

    def _expire(self, now: float) -> None:
        while self._since and self._since[first := next(iter(self._since))] < now - EXPIRY:
            del self._since[first]


def _is_debounced(write: StatusWrite, live: Manifest) -> bool:
    new, old = write.status, live.get("status") or {}
    return _loses_pods(live["kind"], new, old) or (is_true_in({**new}, DRIFT) and not is_true_in(old, DRIFT))


def _loses_pods(kind: str, new: Mapping[str, Any], old: Manifest) -> bool:
    """Returns whether ready pods were lost although neither the spec changed nor an update is in progress, which replaces pods itself."""
    count = DEBOUNCED_COUNTS.get(kind)
    return (
        count is not None
        and new.get(count, 0) < old.get(count, 0)
        and new.get("observedGeneration") == old.get("observedGeneration")
        and all(new.get(field) == old.get(field) for field in ENDINGS)
        and not any(_is_in_progress(status.get("updateProgress")) for status in (new, old))
    )


def _is_in_progress(update: Manifest | None) -> bool:
    return bool(update) and not (update or {}).get("updateEndedAt")
