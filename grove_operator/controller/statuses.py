"""Merges the status patches and conditions of rules into one status write for each object, with the transition times of conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.desired import ObjectReference, StatusWrite
from applier.ref import Manifest
from grove_compiler.engine.runtime.results import StatusCondition, StatusPatch
from grove_compiler.graph.node import ObjectRef
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
        live = objects.get(group_of(of.api_version), of.kind, of.namespace, of.name)
        if live is None or live["metadata"].get("uid") != of.uid:
            continue
        status = dict(bodies.get(of, {}))
        if of in by_object:
            status["conditions"] = [*status.get("conditions", []), *(_as_manifest(condition, live, now) for condition in by_object[of])]
        yield StatusWrite(ObjectReference.of(live), status, _expected_version(status, live), field_managers.STATUS)


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
