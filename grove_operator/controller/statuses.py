"""Puts together what the rules say of the status of each object: fields and conditions, with the times that conditions keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.desired import ObjectReference, StatusWrite
from applier.ref import Manifest
from grove_compiler.engine.runtime.results import Condition, StatusPatch
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import Objects, group_of

MANAGER = "grove-operator-status"
"""Owns the fields of statuses, so that an apply of the object itself never takes them out."""

OWN_GENERATION = ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
"""Kinds whose conditions say which generation they are about (shipped §1.12). Those of others are about what runs, whatever is declared.
A PodGang has a new generation with each pod that it names, and would cost a write each time only to say so."""


FROM_THE_START = (("MinAvailableBreached", "True"), ("PodCliqueScheduled", "False"))
"""Conditions that are true of every object when it is made. Where we come to say so only seconds later, because much is to be done, it has
been so all the time: a gang that still waits for its first nodes must not seem to have lost them, for then it would be terminated."""


DECISIONS = ("updateProgress", "attempt", "startTime", "succeededIndexes", "lostSince", "failure")
"""Fields of statuses that later steps rest on, beside all of a set's."""


def status_writes(patches: Iterable[StatusPatch], conditions: Iterable[Condition], objects: Objects, now: float) -> Iterator[StatusWrite]:
    """Yields one write for each object that exists and of which something is said; of what is not there yet nothing can be said."""
    bodies: dict[ObjectRef, Manifest] = {}
    for patch in patches:
        body = bodies.setdefault(patch.of, {})
        body |= patch.body
    by_object: dict[ObjectRef, list[Condition]] = {}
    for condition in conditions:
        by_object.setdefault(condition.of, []).append(condition)
    for of in dict.fromkeys([*bodies, *by_object]):
        live = objects.get(group_of(of.api_version), of.kind, of.namespace, of.name)
        if live is None or live["metadata"].get("uid") != of.uid:
            continue
        status = dict(bodies.get(of, {}))
        if of in by_object:
            status["conditions"] = [*status.get("conditions", []), *(_with_times(one, live, now) for one in by_object[of])]
        yield StatusWrite(ObjectReference.of(live), status, _rests_on(status, live), MANAGER)


def _rests_on(status: Manifest, live: Manifest) -> str:
    """The version that a status may be written over; empty for any.

    Decisions do: the set's status, the progress of an update, and how the pods of an attempt ended say what is deleted next, or never made
    again, so that of two writers one must lose. Counts
    are what is seen, and whoever has seen less sees the rest at once; they are told without asking whether somebody else wrote meanwhile,
    for each refusal would cost a read and another look.
    """
    old = live.get("status") or {}
    decides = live["kind"] == "PodCliqueSet" or any(status.get(field) != old.get(field) for field in DECISIONS)
    version: str = live["metadata"].get("resourceVersion", "")
    return version if decides else ""


def _with_times(condition: Condition, live: Manifest, now: float) -> Manifest:
    """The condition as an object bears it. Its time is that of the last change of `status`, as Kubernetes' convention wants it."""
    borne: list[Manifest] = (live.get("status") or {}).get("conditions") or []
    since = [one.get("lastTransitionTime") for one in borne if (one.get("type"), one.get("status")) == (condition.type, condition.status)]
    if (condition.type, condition.status) in FROM_THE_START and all(one.get("type") != condition.type for one in borne):
        since.append(live["metadata"].get("creationTimestamp"))
    generation = {"observedGeneration": live["metadata"].get("generation", 0)} if live["kind"] in OWN_GENERATION else {}
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        **generation,
        "lastTransitionTime": next(filter(None, since), timestamp(now)),
    }
