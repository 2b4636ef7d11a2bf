"""Gang termination: what stays below minAvailable is restarted as a unit, and what recovers in time is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .world import FRONT, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

CRASHED = {"ready": False, "started": True, "lastState": {"terminated": {"exitCode": 1}}}


async def test_a_gang_that_stays_short_is_restarted_whole_and_told(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front", 2), terminationDelay="4s"))
    await world.until_ready(*FRONT)
    before = await uids(world)
    await report(world, "chat-0-front-0", CRASHED)
    await world.until(lambda: kept(world, before), 0)
    await world.until_ready(*FRONT)
    told = [event["involvedObject"]["kind"] for event in await world.objects("events") if event["reason"] == "GangTerminated"]
    assert told == ["PodCliqueSet"]


async def test_a_gang_that_is_well_again_in_time_is_left_alone(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front", 2), terminationDelay="1h"))
    await world.until_ready(*FRONT)
    before = await uids(world)
    await report(world, "chat-0-front-0", CRASHED)
    await world.until(lambda: breached(world), "True")
    await report(world, "chat-0-front-0", {"ready": True, "started": True})
    await world.until(lambda: breached(world), "False")
    assert await kept(world, before) == 2


async def report(world: LiveCluster, hostname: str, container: dict[str, Any]) -> None:
    """Writes the status of a pod's container as a kubelet does."""
    pod = next(one for one in await world.objects("pods") if one["spec"]["hostname"] == hostname)
    of_container = {"name": "box", "image": "", "imageID": "", "restartCount": 1, **container}
    conditions = [one for one in pod["status"]["conditions"] if one["type"] not in ("Ready", "ContainersReady")]
    ready = {"type": "Ready", "status": str(container["ready"])}
    status = {"containerStatuses": [of_container], "conditions": [*conditions, ready]}
    name = pod["metadata"]["name"]
    await world.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


async def uids(world: LiveCluster) -> set[str]:
    return {pod["metadata"]["uid"] for pod in await world.objects("pods")}


async def kept(world: LiveCluster, before: set[str]) -> int:
    """How many of these pods are still there."""
    return len(before & await uids(world))


async def breached(world: LiveCluster) -> str | None:
    front = await world.get("podclique", "chat-0-front")
    conditions = (front or {}).get("status", {}).get("conditions") or []
    return next((one["status"] for one in conditions if one["type"] == "MinAvailableBreached"), None)
