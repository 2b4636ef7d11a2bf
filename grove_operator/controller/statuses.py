"""Merges the status patches and conditions of rules into one status write for each object; delays those that will be another in a moment.

Delayed are statuses of PodCliques and scaling groups that lose ready pods, as most deleted pods are replaced before the delay ends; and
those of bindings of topologies that begin to drift, as after an edit of their levels the operator writes KAI's Topology in the very step
that finds the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from applier.desired import EventWrite, ObjectReference, StatusWrite
from applier.ref import Manifest
from grove_compiler.engine.runtime.results import StatusCondition, StatusPatch
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_operator import field_managers
from kube_objects.manifest import group_of

OWN_GENERATION = ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
"""Kinds whose conditions have an `observedGeneration` (shipped §1.12). Conditions of others describe the running pods and not the spec. The
generation of a PodGang changes with each pod that it refers to, and each change would cost a write."""


INITIAL = (("MinAvailableBreached", "True"), ("PodCliqueScheduled", "False"))
"""Conditions, by type and status, that hold since the creation of an object, even if a busy operator reports them later. With the time of
the report a gang that still waits for its first nodes would seem to have lost them, and would be terminated."""


DECISIONS = ("updateProgress", "attempt", "startTime", "succeededIndexes", "lostSince", "failure")
"""Status fields that later steps decide by, in addition to the whole status of a set."""

OF_TRAINING = {
    "PodCliqueSet": ("startTime", "completionTime", "suspendTime", "suspendedSeconds", "trainingReplicas", "attempts"),
    "PodClique": ("startTime", "succeededIndexes", "lostSince", "failure"),
}
"""Status fields of training workloads that mean something by being there. One that somebody else has written as well would stay:
a job that was resumed counted as suspended, and wrote ever longer suspensions without end."""


def status_writes(
    patches: Iterable[StatusPatch], conditions: Iterable[StatusCondition], objects: ObjectReader, now: float
) -> Iterator[StatusWrite]:
    """Yields one write for each object with a patch or condition that exists; a later object of the same name is another one."""
    bodies: dict[ObjectRef, Manifest] = {}
    for patch in patches:
        bodies.setdefault(patch.of, {}).update(patch.body)
    by_object: dict[ObjectRef, list[StatusCondition]] = {}
    for condition in conditions:
        by_object.setdefault(condition.of, []).append(condition)
    for of in dict.fromkeys([*bodies, *by_object]):
        live = live_of(of, objects)
        if live is None:
            continue
        status = dict(bodies.get(of, {}))
        if of in by_object:
            status["conditions"] = [*status.get("conditions", []), *(_as_manifest(condition, live, now) for condition in by_object[of])]
        removes = OF_TRAINING.get(of.kind, ()) if {"phase", "attempt"} & status.keys() else ()
        version = _expected_version(status, live)
        # A pod that has succeeded is never created again, nor is one alone in an attempt that all have begun: the status tells of both.
        decisive = bool(version) and "attempt" in status
        yield StatusWrite(ObjectReference.of(live), status, version, field_managers.STATUS, removes, decisive)


def live_of(of: ObjectRef, objects: ObjectReader) -> Manifest | None:
    """Returns the live object of a reference; None without one, as where a later object of the same name has another UID."""
    live = objects.get(group_of(of.api_version), of.kind, of.namespace, of.name)
    return live if live is not None and live["metadata"].get("uid") == of.uid else None


def _expected_version(status: Manifest, live: Manifest) -> str:
    """Returns the `resourceVersion` that a status write requires (optimistic concurrency); empty for none.

    Decisions require one: the set's status, the progress of an update and how the pods of an attempt ended determine what is deleted next
    or never created again, so that one of two concurrent writers must fail. Counts are observations, which the next watch event corrects:
    they are written unconditionally, since each conflict would cost a read and another evaluation.
    """
    old = live.get("status") or {}
    decides = live["kind"] == "PodCliqueSet" or any(status.get(field) != old.get(field) for field in DECISIONS)
    version: str = live["metadata"].get("resourceVersion", "")
    return version if decides else ""


def _as_manifest(condition: StatusCondition, live: Manifest, now: float) -> Manifest:
    """Returns a condition as the status has it, with the time of the last change of its `status` (Kubernetes API conventions)."""
    present: list[Manifest] = (live.get("status") or {}).get("conditions") or []
    current = condition.type, condition.status
    since = [old.get("lastTransitionTime") for old in present if (old.get("type"), old.get("status")) == current]
    if current in INITIAL and all(old.get("type") != condition.type for old in present):
        since.append(live["metadata"].get("creationTimestamp"))
    generation = {"observedGeneration": live["metadata"].get("generation", 0)} if live["kind"] in OWN_GENERATION else {}
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        **generation,
        "lastTransitionTime": next(filter(None, since), None) or timestamp(now),
    }


DELAY = 1.0
"""Seconds. A deleted pod whose image is on the node is replaced and ready in less. Without the delay its replacement costs five status
writes, of its PodClique and of its set, in addition to the three that replace it."""
DEBOUNCED_COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}
"""The status field, by kind, whose decrease is delayed."""
LOST = "AllScheduledReplicasLost"
"""The reason of the event that tells of what a status reports, too."""
DRIFT = "SchedulerTopologyDrift"
"""The condition of a binding whose beginning is delayed. The event about a topology of somebody else is not."""
ENDINGS = ("attempt", "succeededIndexes", "lostSince", "failure")
"""Status fields that record how pods of a training workload ended. Those pods are not replaced and the set acts on the change, so that a
status that changes one of these fields is written at once."""
EXPIRY = 60.0
"""Seconds after which a delayed status that was never evaluated again is forgotten: its object no longer exists."""


def told_now(events: Iterable[EventWrite], statuses: Iterable[StatusWrite]) -> list[EventWrite]:
    """Returns the events to record now, given the statuses that are written now: a loss is told with the status that reports it.

    A pod that is replaced in the meantime is not lost. One that a restart of its gang has deleted would be told of once the gang has
    recovered, if its own PodClique still reported what it had before.
    """
    reported = {status.of for status in statuses}
    return [event for event in events if event.reason != LOST or event.of in reported]


class StatusDebounce:
    """Tracks since when objects have fewer ready pods than their statuses report. After a restart of the process delays begin again.

    So they do where the clock goes back, as where API servers behind one address have different times: nothing is put off for longer.
    """

    def __init__(self) -> None:
        self._since: dict[str, float] = {}  # by UID, the oldest first

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
        if live is None or not _is_debounced(write, live):
            self._since.pop(uid, None)
            return 0.0
        self._expire(now)
        self._since[uid] = since = min(self._since.get(uid, now), now)
        return since + DELAY - now

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
