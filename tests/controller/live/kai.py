"""KAI's definition of PodGroups as far as it matters, in the form of two releases."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from tests.definitions import definition, serve

INTEGER, TEXT = {"type": "integer", "format": "int32"}, {"type": "string"}
TOPOLOGY = {"type": "object", "properties": dict.fromkeys(("topology", "requiredTopologyLevel", "preferredTopologyLevel"), TEXT)}
SUBGROUP = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "minMember": INTEGER, "minSubGroup": INTEGER, "parent": TEXT, "topologyConstraint": TOPOLOGY},
}
SPEC = {
    "minMember": {**INTEGER, "minimum": 1},
    "minSubGroup": INTEGER,
    "queue": TEXT,
    "priorityClassName": TEXT,
    "preemptibility": {**TEXT, "enum": ["preemptible", "non-preemptible"]},
    "markUnschedulable": {"type": "boolean"},
    "schedulingBackoff": INTEGER,
    "topologyConstraint": TOPOLOGY,
    "subGroups": {"type": "array", "items": SUBGROUP},
}
STATUS: Manifest = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def pod_groups(**fields: Any) -> Manifest:
    """KAI's definition of PodGroups: that of 0.16, and `fields` of later releases."""
    spec = {"type": "object", "properties": {**SPEC, **fields}}
    schema = {"type": "object", "properties": {"spec": spec, "status": STATUS}}
    return definition("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", schema=schema)


WITHOUT_GRACE = pod_groups()
POD_GROUPS = pod_groups(stalenessGracePeriod=TEXT, preemptionDelay=TEXT)
GROUPS = "podgroups.scheduling.run.ai"
SCHEDULER = {"profiles": [{"name": "kai-scheduler", "default": True}, {"name": "default-scheduler"}]}


def serve_pod_groups(plane: ControlPlane, served: Manifest = POD_GROUPS) -> None:
    serve(plane, [served])
