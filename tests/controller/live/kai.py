"""KAI as far as it matters: its definition of PodGroups, in the form of two releases, and what its scheduler and binder write."""

from __future__ import annotations

import asyncio
from typing import Any

from applier.ref import Kind, Manifest
from applier.transport import ApiCluster
from tests.definitions import definition, serve

from .world import LiveCluster

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
GROUPS, POD_GROUP = "podgroups.scheduling.run.ai", Kind("scheduling.run.ai", "v2alpha2", "PodGroup")
SCHEDULER = {"profiles": [{"name": "kai-scheduler", "default": True}, {"name": "default-scheduler"}]}


async def serve_pod_groups(world: LiveCluster, served: Manifest = POD_GROUPS) -> None:
    """Has the cluster serve a definition. Operators that start now see it: the server publishes the schema some seconds later."""
    serve(world.plane, [served])
    version = served["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    await world.until(lambda: _fields(world), set(version["properties"]["spec"]["properties"]))


async def _fields(world: LiveCluster) -> set[str]:
    """The fields of a PodGroup's spec that the server publishes, and that the operators' connection knows from now on."""
    assert isinstance(world.operators, ApiCluster)
    world.operators.openapi.forget()
    schema = (await world.operators.schemas([POD_GROUP])).get(POD_GROUP)
    spec = schema.member("spec") if schema else None
    return set(spec.fields) if spec else set()


async def bind(world: LiveCluster, *hostnames: str) -> None:
    """Binds pods to a node."""
    for pod in await world.objects("pods"):
        if pod["spec"]["hostname"] in hostnames:
            namespace, name = world.namespace, pod["metadata"]["name"]
            target = {"apiVersion": "v1", "kind": "Node", "name": "grove-node-0"}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": namespace}, "target": target}
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/binding"
            await asyncio.to_thread(world.plane.request, "POST", path, binding)


async def evict(world: LiveCluster, group: str, *hostnames: str) -> None:
    """Deletes pods of a gang one by one, and stamps its PodGroup. Without `--update-pod-eviction-condition` no condition tells why."""
    names = [pod["metadata"]["name"] for pod in await world.objects("pods") if pod["spec"]["hostname"] in hostnames]
    for name in names:
        await world.kubectl("delete", "pod", name, "--wait=false")
    await world.kubectl("annotate", GROUPS, group, "kai.scheduler/last-eviction-timestamp=2026-01-01T00:00:00Z")
