"""Updates whose pods no node takes, on a real scheduler: no more is lost than one pod or unit, and what is taken back restarts nothing."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import time as seconds_of
from tests.permitted import permitted, resources

from .conftest import node
from .test_updates import images
from .world import LiveCluster, clique, is_ready, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

GROUP = [{"name": "model", "cliqueNames": ["work"], "replicas": 3, "minAvailable": 1}]
SETS: dict[str, tuple[Manifest, int, int]] = {
    "one-of-three": (pod_clique_set(clique("front", 3, minAvailable=1), name="one-of-three"), 3, 1),
    "one-of-four": (pod_clique_set(clique("front", 4, minAvailable=1), name="one-of-four"), 4, 1),
    "two-of-three": (pod_clique_set(clique("front", 3, minAvailable=2), name="two-of-three"), 3, 1),
    "three-of-three": (pod_clique_set(clique("front", 3, minAvailable=3), name="three-of-three"), 3, 1),
    "units": (pod_clique_set(clique("work", 2), name="units", podCliqueScalingGroups=GROUP), 6, 2),
    "two-replicas": (pod_clique_set(clique("front", 3, minAvailable=1), name="two-replicas", replicas=2), 6, 1),
}
"""Each with its number of pods, and how many of them a single lost pod or unit costs."""
DECLARED = {name: pods for name, (_, pods, _) in SETS.items()}
LEFT = {name: pods - lost for name, (_, pods, lost) in SETS.items()}
IMPOSSIBLE = {"a selector that matches no node": {"nodeSelector": {"nowhere": "here"}}, "more than any node has": {"cpu": "1000"}}
FRONT = ("chat-0-front-0", "chat-0-front-1", "chat-0-front-2")


def edited(manifest: Manifest, *, image: str = "1", cpu: str = "10m", **pod_spec: Any) -> Manifest:
    """A set with other fields in all of its pods."""
    there = copy.deepcopy(manifest)
    for one in there["spec"]["template"]["cliques"]:
        spec = one["spec"]["podSpec"]
        spec |= pod_spec
        spec["containers"][0] |= {"image": f"registry.example/app:{image}", "resources": resources(cpu)}
    return there


async def ready(world: LiveCluster) -> dict[str, int]:
    """How many pods of each set are ready."""
    pods = [pod for pod in await world.objects("pods") if is_ready(pod) and not pod["metadata"].get("deletionTimestamp")]
    return dict(Counter(pod["metadata"].get("labels", {}).get("app.kubernetes.io/part-of", "others") for pod in pods))


async def uids(world: LiveCluster) -> set[str]:
    return {pod["metadata"]["uid"] for pod in await world.objects("pods") if is_ready(pod)}


async def updated(world: LiveCluster) -> list[str]:
    """The sets that say that their update has ended."""
    progress = {one["metadata"]["name"]: one.get("status", {}).get("updateProgress", {}) for one in await world.objects("sets")}
    return sorted(name for name, told in progress.items() if "updateEndedAt" in told)


@pytest.mark.parametrize("edit", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
async def test_an_update_that_fits_nowhere_costs_one_pod_or_unit_and_taking_it_back_none(edit: dict[str, Any], world: LiveCluster) -> None:
    for manifest, _, _ in SETS.values():
        await world.apply(manifest)
    await world.until(lambda: ready(world), DECLARED)
    for manifest, _, _ in SETS.values():
        await world.apply(edited(manifest, **edit))
    await world.until(lambda: ready(world), LEFT)
    await world.at_rest()
    assert await ready(world) == LEFT
    assert await updated(world) == []
    left = await uids(world)
    for manifest, _, _ in SETS.values():
        await world.apply(edited(manifest))
    await world.until(lambda: ready(world), DECLARED)
    await world.until(lambda: updated(world), sorted(SETS))
    assert left <= await uids(world)


@pytest.fixture
async def small_node(world: LiveCluster) -> AsyncIterator[str]:
    """A node with room for three pods of a CPU each, which only those that tolerate it get: it is of this namespace's set."""
    there = node(0)
    size = {"cpu": "3", "memory": "64Gi", "pods": "20"}
    there["metadata"] |= {"name": world.namespace, "labels": {"room": world.namespace}}
    there["spec"] = {"taints": [{"key": "room", "value": world.namespace, "effect": "NoSchedule"}]}
    await world.apply({**there, "status": {"capacity": size, "allocatable": size}})
    yield world.namespace
    await world.kubectl("delete", "node", world.namespace, "--wait=false")


def only_on(name: str) -> dict[str, Any]:
    """The fields of pods that run on that node."""
    return {"nodeSelector": {"room": name}, "tolerations": [{"key": "room", "operator": "Exists"}]}


def full(name: str, image: str = "1") -> Manifest:
    """A set that takes all of the node."""
    return edited(pod_clique_set(clique("front", 3, minAvailable=1)), image=image, cpu="1", **only_on(name))


async def phase(world: LiveCluster, pod: str) -> str | None:
    """Where a pod of somebody else's is: on a node, or known to fit nowhere."""
    there = await world.get("pod", pod)
    reasons = [one.get("reason") for one in (there or {}).get("status", {}).get("conditions") or [] if one["type"] == "PodScheduled"]
    return "placed" if there and there["spec"].get("nodeName") else next(iter(reasons), None)


async def test_of_a_full_node_others_who_wait_for_it_get_the_room_of_one_pod(world: LiveCluster, small_node: str) -> None:
    """The edit is valid; the room of the pod that goes is taken, and the update waits for it instead of taking the next.

    The node is cordoned, and only the other pod tolerates that: which of two waiting pods the scheduler tries first depends on backoff.
    """
    await world.apply(full(small_node))
    await world.until_ready(*FRONT)
    before = await uids(world)
    box = permitted({"name": "box", "image": "registry.example/other:1", "resources": resources("1")})
    spec = {"containers": [box], "terminationGracePeriodSeconds": 0, **only_on(small_node), "tolerations": [{"operator": "Exists"}]}
    await world.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": spec})
    await world.until(lambda: phase(world, "other"), "Unschedulable")
    await world.kubectl("cordon", small_node)
    await world.apply(full(small_node, "2"))
    await world.until(lambda: phase(world, "other"), "placed")
    await world.kubectl("uncordon", small_node)
    await world.until(lambda: ready(world), {"chat": 2, "others": 1})
    await world.at_rest()
    assert await ready(world) == {"chat": 2, "others": 1}
    assert await updated(world) == []
    assert len(before & await uids(world)) == 2
    await world.kubectl("delete", "pod", "other", "--wait=false")
    await world.until(lambda: images(world), {"2"})
    await world.until_ready(*FRONT)
    await world.until(lambda: updated(world), ["chat"])


async def test_while_nodes_are_cordoned_an_update_takes_one_pod(world: LiveCluster, small_node: str) -> None:
    await world.apply(full(small_node))
    await world.until_ready(*FRONT)
    before = await uids(world)
    await world.kubectl("cordon", small_node)
    await world.apply(full(small_node, "2"))
    await world.until(lambda: ready(world), {"chat": 2})
    await world.at_rest()
    assert len(before & await uids(world)) == 2
    await world.kubectl("uncordon", small_node)
    await world.until(lambda: images(world), {"2"})
    await world.until_ready(*FRONT)
    await world.until(lambda: updated(world), ["chat"])


async def test_what_finds_no_room_when_it_is_scaled_out_again_takes_nobody_down(world: LiveCluster, small_node: str) -> None:
    """It has lasted for longer than gangs have to recover: a restart would free nothing that it could have."""
    front = edited(pod_clique_set(clique("front", 3, minAvailable=2)), cpu="1", **only_on(small_node))
    declared = pod_clique_set(*front["spec"]["template"]["cliques"], clique("side", 2), terminationDelay="2s")
    side = ("chat-0-side-0", "chat-0-side-1")
    await world.apply(declared)
    await world.until_ready(*FRONT, *side)
    await world.kubectl("scale", "podclique", "chat-0-front", "--replicas=0")
    await world.until_ready(*side)
    before = await uids(world)
    await world.kubectl("cordon", small_node)
    await world.kubectl("scale", "podclique", "chat-0-front", "--replicas=3")
    await world.until(lambda: breach(world, 5), "NotAvailableSinceScaledOut")
    await world.at_rest()
    assert await uids(world) == before
    await world.kubectl("uncordon", small_node)
    await world.until_ready(*FRONT, *side)
    assert before <= await uids(world)
    assert [one for one in await world.objects("events") if one["reason"].startswith("GangTerminat")] == []


async def breach(world: LiveCluster, lasts: float) -> str:
    """The reason of a breach of the front clique that has lasted so many seconds; empty before."""
    front = await world.get("podclique", "chat-0-front")
    [told] = [one for one in front["status"]["conditions"] if one["type"] == "MinAvailableBreached"]
    has_lasted = time.time() - (seconds_of(told["lastTransitionTime"]) or 0.0) >= lasts
    return str(told["reason"]) if told["status"] == "True" and has_lasted else ""
