"""Puts together what the rules say of the status of each object: fields and conditions, with the times that conditions keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.desired import ObjectReference, StatusWrite
from applier.ref import Manifest
from grove_compiler.engine.runtime.results import Condition, StatusPatch
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import group_of
from grove_operator.controller.live_objects import LiveObjects

MANAGER = "grove-operator-status"
"""Owns the fields of statuses, so that an apply of the object itself never takes them out."""


def status_writes(
    patches: Iterable[StatusPatch], conditions: Iterable[Condition], objects: LiveObjects, now: float
) -> Iterator[StatusWrite]:
    """Yields one write for each object that exists and of which something is said; of what is not there yet nothing can be said.

    A status rests on what was read, so each carries the version that it was worked out from.
    """
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
        yield StatusWrite(ObjectReference.of(live), status, live["metadata"].get("resourceVersion", ""), MANAGER)


def _with_times(condition: Condition, live: Manifest, now: float) -> Manifest:
    """The condition as an object bears it. Its time is that of the last change of `status`, as Kubernetes' convention wants it."""
    borne: list[Manifest] = (live.get("status") or {}).get("conditions") or []
    since = [one.get("lastTransitionTime") for one in borne if (one.get("type"), one.get("status")) == (condition.type, condition.status)]
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": live["metadata"].get("generation", 0),
        "lastTransitionTime": next(filter(None, since), timestamp(now)),
    }
