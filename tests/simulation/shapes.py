"""What there is in a world, without what differs from one world to the next: so ends are compared."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from applier.ref import Manifest
from tests.simulation.simulation import Simulation
from tests.simulation.world import (
    AUTOSCALER,
    CLAIM,
    CLAIM_TEMPLATE,
    CLIQUE,
    DOMAIN,
    GANG,
    GROUP,
    KAI_TOPOLOGY,
    POD,
    POD_GROUP,
    SERVICE,
    SET,
    TOPOLOGY,
)

HISTORY = ("updateProgress", "observedGeneration", "conditions", "containerStatuses")
"""What a status says of how it came about; of conditions, only what they say now is compared. Containers tell since when they run."""
MADE = (SET, CLIQUE, GROUP, GANG, KAI_TOPOLOGY, POD, SERVICE, TOPOLOGY, DOMAIN, CLAIM, CLAIM_TEMPLATE, AUTOSCALER, POD_GROUP)


Shapes = dict[tuple[str, str], Any]


def shapes(simulation: Simulation) -> Shapes:
    """All that an operator makes and tells."""
    return shapes_of([one for kind in MADE for one in simulation.world.all(kind)])


def shapes_of(objects: Collection[Manifest]) -> Shapes:
    """Objects by kind and name, without UIDs, names of pods, times, and how they came about."""
    names = {one["metadata"]["uid"]: one["metadata"]["name"] for one in objects}
    hostnames = {one["metadata"]["name"]: one["spec"]["hostname"] for one in objects if one["kind"] == "Pod"}
    shaped = {}
    for one in objects:
        name = one["metadata"]["name"]
        shaped[one["kind"], hostnames.get(name, name)] = _shape(one, names, hostnames)
    return shaped


def _shape(one: Manifest, names: dict[str, str], hostnames: dict[str, str]) -> dict[str, Any]:
    metadata, status = one["metadata"], one.get("status", {})
    return {
        "labels": metadata.get("labels"),
        "annotations": metadata.get("annotations"),
        "finalizers": metadata.get("finalizers"),
        "owners": [names.get(owner["uid"], "gone") for owner in metadata.get("ownerReferences", [])],
        "spec": _with_hostnames(one.get("spec"), hostnames),
        "status": {key: value for key, value in status.items() if key not in HISTORY},
        "conditions": {condition["type"]: (condition["status"], condition.get("reason")) for condition in status.get("conditions", [])},
    }


def _with_hostnames(value: Any, hostnames: dict[str, str]) -> Any:
    """A spec that says which pods it means by what does not change when they are made anew."""
    if isinstance(value, dict):
        shaped = {key: _with_hostnames(item, hostnames) for key, item in value.items()}
        if "podReferences" in shaped:  # are in the order of names
            told = [{**one, "name": _hostname(one["name"], hostnames)} for one in value["podReferences"]]
            shaped["podReferences"] = sorted(told, key=lambda one: one["name"])
        return shaped
    if isinstance(value, list):
        return [_with_hostnames(item, hostnames) for item in value]
    return hostnames.get(value, value) if isinstance(value, str) else value


def _hostname(name: str, hostnames: dict[str, str]) -> str:
    """The hostname of a pod that a gang refers to; of one that is still to be created its clique: it has the name that the gang tells."""
    return hostnames.get(name) or name.rpartition("-")[0]
