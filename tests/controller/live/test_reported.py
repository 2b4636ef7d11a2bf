"""What users of the shipped operator report, on a real control plane; each test bears the number of its issue there."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

from applier.ref import Manifest

from .test_updates import images, with_image
from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, clique, is_ready, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

SCALES = (
    ("podcliquesets", "chat", {"app.kubernetes.io/part-of": "chat"}),
    ("podcliques", "chat-0-front", {"grove.io/podclique": "chat-0-front"}),
    ("podcliques", "chat-0-model-1-work", {"grove.io/podclique": "chat-0-model-1-work"}),
    ("podcliquescalinggroups", "chat-0-model", {"grove.io/podcliquescalinggroup": "chat-0-model"}),
)


async def scale(world: LiveCluster, kind: str, name: str, replicas: int) -> None:
    await world.kubectl("scale", kind, name, f"--replicas={replicas}")


async def pod_of(world: LiveCluster, hostname: str) -> Manifest:
    return next(pod for pod in await world.objects("pods") if pod["spec"]["hostname"] == hostname)


@pytest.mark.parametrize(("kind", "name", "labels"), SCALES)
async def test_744_whatever_can_be_scaled_says_which_pods_it_has(world: LiveCluster, kind: str, name: str, labels: dict[str, str]) -> None:
    """KEDA and an HPA refuse a target whose selector is empty."""
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    path = f"/apis/grove.io/v1alpha1/namespaces/{world.namespace}/{kind}/{name}/scale"

    async def picked() -> set[str]:
        selector = json.loads(await world.kubectl("get", "--raw", path))["status"].get("selector", "")
        names = await world.kubectl("get", "pods", "-l", selector, "-o", "name") if selector else ""
        return set(names.split())

    pods = await world.objects("pods")
    wanted = {f"pod/{one['metadata']['name']}" for one in pods if labels.items() <= one["metadata"]["labels"].items()}
    assert wanted
    await world.until(picked, wanted)


async def test_796_an_external_scale_survives_an_edit_a_roll_and_another_operator(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await scale(world, "podclique", "chat-0-front", 4)
    await scale(world, "podcliquescalinggroup", "chat-0-model", 3)
    front = tuple(f"chat-0-front-{index}" for index in range(4))
    third = tuple(name.replace("model-1", "model-2") for name in SCALED)
    await world.until_ready(*front, *BASE, *SCALED, *third)
    await world.kill()
    await world.apply(with_image("2"))
    await world.start()
    await world.until(lambda: images(world), {"2"})
    await world.until_ready(*front, *BASE, *SCALED, *third)


@pytest.mark.parametrize(
    ("kind", "name", "others"),
    [
        ("podcliqueset", "chat", ()),
        ("podclique", "chat-0-front", (*BASE, *SCALED)),
        ("podcliquescalinggroup", "chat-0-model", FRONT),
    ],
)
async def test_809_what_was_scaled_to_nothing_comes_up_again(world: LiveCluster, kind: str, name: str, others: tuple[str, ...]) -> None:
    """It stayed gated for ever, without an event."""
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await world.kubectl("get", kind, name, "-o", "jsonpath={.spec.replicas}")
    await scale(world, kind, name, 0)
    await world.until(world.hostnames, sorted(others))
    await scale(world, kind, name, int(before))
    await world.until_ready(*FRONT, *BASE, *SCALED)


async def test_847_gates_are_lifted_as_soon_as_what_they_wait_for_is_there(world: LiveCluster) -> None:
    """One was lifted by the next resync, three minutes later. Ours has none: what no watch tells is never done."""
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await scale(world, "podcliquescalinggroup", "chat-0-model", 4)
    await world.until(lambda: gated(world), [])
    await world.until(lambda: count(world), len(FRONT) + 4 * len(BASE))
    assert await gated(world) == []


async def gated(world: LiveCluster) -> list[str]:
    return await world.hostnames(lambda pod: bool(pod["spec"].get("schedulingGates")))


async def count(world: LiveCluster) -> int:
    return len(await world.hostnames(is_ready))


async def test_434_and_401_a_pod_that_is_deleted_and_does_not_go_is_replaced_at_once(world: LiveCluster) -> None:
    """So do those of a node that is not ready: nobody confirms that they are gone. The missed change left the clique short for ever."""
    await world.apply(pod_clique_set(clique("front", 2)))
    await world.until_ready(*FRONT)
    stuck = await pod_of(world, FRONT[1])
    name = stuck["metadata"]["name"]
    await world.kubectl("patch", "pod", name, "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/stuck"]}}')
    await world.kubectl("delete", "pod", name, "--wait=false")
    await world.until_ready(*FRONT)
    there = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    assert stuck["metadata"]["uid"] in there
    assert len(there) == 3
    await world.kubectl("patch", "pod", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


async def test_829_scaling_a_group_below_what_it_needs_keeps_the_first_gang(world: LiveCluster) -> None:
    declared = copy.deepcopy(SERVING)
    group = declared["spec"]["template"]["podCliqueScalingGroups"][0]
    group["minAvailable"], group["replicas"] = 2, 3
    await world.apply(declared)
    third = tuple(name.replace("model-1", "model-2") for name in SCALED)
    await world.until_ready(*FRONT, *BASE, *SCALED, *third)
    first = {name: (await pod_of(world, name))["metadata"]["uid"] for name in (*FRONT, *BASE, *SCALED)}
    await scale(world, "podcliquescalinggroup", "chat-0-model", 1)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    assert {name: (await pod_of(world, name))["metadata"]["uid"] for name in first} == first
    await scale(world, "podcliquescalinggroup", "chat-0-model", 0)
    await world.until_ready(*FRONT)


async def test_565_a_burst_of_scaling_ends_where_the_last_one_says_and_rolls_nothing(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    kept = {(await pod_of(world, name))["metadata"]["uid"] for name in (*FRONT, *BASE)}
    for replicas in (3, 1, 4, 2):
        await asyncio.gather(
            scale(world, "podcliquescalinggroup", "chat-0-model", replicas), scale(world, "podcliqueset", "chat", replicas)
        )
    await scale(world, "podcliqueset", "chat", 1)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    there: dict[str, Any] = {pod["metadata"]["uid"]: pod for pod in await world.objects("pods")}
    assert kept <= there.keys()
