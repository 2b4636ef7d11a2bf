"""A set that runs, with its pods in states that a case names: what a cluster would have of it."""

from __future__ import annotations

import copy
from typing import Any

from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import Key, StepContext, StepResult, step
from grove_operator.controller.statuses import status_writes
from tests.step.world import complete

Manifest = dict[str, Any]
NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
BEFORE = "2027-01-15T07:00:00Z"
GROVE_KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang")

SCHEDULED: Manifest = {"spec": {"nodeName": "node", "schedulingGates": []}}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
POD_STATES: dict[str, Manifest] = {
    "gated": {},
    "waiting": {"spec": {"schedulingGates": []}},
    "scheduled": SCHEDULED,
    "ready": {**SCHEDULED, "status": {**READY, "phase": "Running"}},
    "old": {**SCHEDULED, "status": {**READY, "phase": "Running"}, "metadata": {"labels": {"grove.io/pod-template-hash": "old"}}},
    "unhealthy": {**SCHEDULED, "status": {"phase": "Running", "containerStatuses": [{"started": True, "ready": False}]}},
    "crashed": {**SCHEDULED, "status": {"phase": "Running", "containerStatuses": [{"lastState": {"terminated": {"exitCode": 1}}}]}},
    "recovered": {
        **SCHEDULED,
        "status": {**READY, "phase": "Running", "containerStatuses": [{"lastState": {"terminated": {"exitCode": 1}}, "ready": True}]},
    },
    "leaving": {**SCHEDULED, "status": {**READY, "phase": "Running"}, "metadata": {"deletionTimestamp": "2027-01-15T07:59:30Z"}},
    "replaced": {
        **SCHEDULED,
        "status": {**READY, "phase": "Running"},
        "metadata": {"deletionTimestamp": "2027-01-15T07:59:30Z", "annotations": {"grove.io/deletion-reason": "RollingUpdate"}},
    },
    "stuck": {
        **SCHEDULED,
        "status": {**READY, "phase": "Running"},
        "metadata": {"deletionTimestamp": "2027-01-15T07:00:00Z", "finalizers": ["example.com/save"]},
    },
    "failed": {**SCHEDULED, "status": {"phase": "Failed"}},
    "done": {**SCHEDULED, "status": {"phase": "Succeeded"}},
}
"""What a pod in a state has besides what it was made with."""


def keys_of(manifest: Manifest) -> list[Key]:
    whole = Key("PodCliqueSet", manifest["metadata"]["namespace"], manifest["metadata"]["name"])
    return [whole, *(whole._replace(replica=index) for index in range(manifest["spec"]["replicas"]))]


def live_objects_of(manifest: Manifest, pods: dict[str, list[str]], statuses: dict[str, Manifest], shared: StepContext) -> list[Manifest]:
    """The set and all that it becomes; of pods only those that are named, by PodClique. `statuses` are those that stand there already."""
    one = {**manifest, "metadata": {**manifest["metadata"], "uid": "uid-set", "generation": 2}}
    objects = [one]
    for key in keys_of(one):
        for node in complete(step(ObjectList([one]), key, NOW, shared)).graph.nodes:
            live = copy.deepcopy(node.object)
            live["metadata"] |= {"uid": f"uid-{node.id}", "generation": 1, "creationTimestamp": BEFORE}
            for reference in live["metadata"].get("ownerReferences") or []:
                reference["uid"] = "uid-set" if reference["name"] == one["metadata"]["name"] else f"uid-{_id(reference, live)}"
            objects.append(live)
    existing = [live for live in objects if live["kind"] != "Pod"]
    for live in objects:
        if live["kind"] == "Pod":
            clique, _, index = live["spec"]["hostname"].rpartition("-")
            states = pods.get(clique, [])
            if int(index) < len(states):
                existing.append(merged(live, POD_STATES[states[int(index)]]))
    for live in existing:
        if name := statuses.get(f"{live['kind']} {live['metadata']['name']}"):
            live["status"] = name
    return existing


def _id(reference: Manifest, live: Manifest) -> str:
    return f"{reference['kind']}/{live['metadata']['namespace']}/{reference['name']}"


def merged(base: Manifest, change: Manifest) -> Manifest:
    """The manifest with the fields of another one put in."""
    result = dict(base)
    for key, value in change.items():
        result[key] = merged(result[key], value) if isinstance(value, dict) and isinstance(result.get(key), dict) else value
    return result


def told(objects: list[Manifest], keys: list[Key], shared: StepContext) -> Manifest:
    """What steps say: statuses by kind and name with conditions in short, events in short, and when to look again."""
    view = ObjectList(objects)
    made: list[StepResult] = [complete(step(view, key, NOW, shared)) for key in keys]
    statuses = {}
    for each in made:
        for write in status_writes(each.statuses, each.conditions, view, NOW):
            status = dict(write.status)
            status["conditions"] = {
                one["type"]: f"{one['status']} {one['reason']}: {one['message']}" for one in status.get("conditions", [])
            }
            statuses[f"{write.of.kind.kind} {write.of.ref.name}"] = status
    events = [f"{one.of.kind} {one.of.name} {one.type} {one.reason}: {one.message}" for each in made for one in each.events]
    again = [each.requeue_at - NOW for each in made if each.requeue_at is not None]
    return {"statuses": statuses, "events": events, "again": min(again, default=None)}


def shared_context(config: Any = None) -> StepContext:
    from tests.step.world import context

    return context(Settings(pods=True), config)
