"""Scaling of sets, scaling groups and cliques, by `kubectl scale`, out and in, to nothing and back."""

from __future__ import annotations

import asyncio
import copy

import pytest

from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, clique, pod_clique_set, team

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


async def test_a_set_is_scaled_out_and_in_and_to_nothing_and_back(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front")))
    await world.until_ready("chat-0-front-0")
    for replicas in (3, 1, 0, 2):
        await world.kubectl("scale", "podcliqueset", "chat", f"--replicas={replicas}")
        names = [f"chat-{index}" for index in range(replicas)]
        await world.until_ready(*(f"{name}-front-0" for name in names))
        await world.until(lambda: world.names("gangs"), names)
        await world.until(lambda: world.names("services"), names)


async def test_a_clique_is_scaled_and_keeps_it_when_the_set_is_edited(world: LiveCluster) -> None:
    declared = pod_clique_set(clique("front", 2, minAvailable=1))
    await world.apply(declared)
    await world.until_ready(*FRONT)
    await world.kubectl("scale", "podclique", "chat-0-front", "--replicas=4")
    await world.until_ready(*(f"chat-0-front-{index}" for index in range(4)))
    await world.apply({**declared, "metadata": {"name": "chat", "labels": {"team": "a"}}})
    await world.until(lambda: team(world), "a")
    await world.until_ready(*(f"chat-0-front-{index}" for index in range(4)))


async def test_scaling_in_keeps_indices_without_gaps(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front", 2, minAvailable=1)))
    await world.until_ready(*FRONT)
    for replicas in (5, 2, 4):
        await world.kubectl("scale", "podclique", "chat-0-front", f"--replicas={replicas}")
        await world.until(lambda: count(world), replicas)
    assert await world.hostnames() == [f"chat-0-front-{index}" for index in range(4)]


async def count(world: LiveCluster) -> int:
    return len(await world.hostnames())


async def test_a_group_is_scaled_out_and_in(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.kubectl("scale", "podcliquescalinggroup", "chat-0-model", "--replicas=3")
    more = tuple(name.replace("model-1", "model-2") for name in SCALED)
    await world.until_ready(*FRONT, *BASE, *SCALED, *more)
    assert await world.names("gangs") == ["chat-0", "chat-0-model-0", "chat-0-model-1"]
    await world.kubectl("scale", "podcliquescalinggroup", "chat-0-model", "--replicas=1")
    await world.until_ready(*FRONT, *BASE)
    await world.until(lambda: world.names("gangs"), ["chat-0"])


NIGHT = 6.0
"""Seconds, longer than the gangs below have to recover."""


@pytest.mark.parametrize(
    ("kind", "name", "by_day", "by_night"),
    [
        ("podclique", "chat-0-front", 3, 0),
        ("podclique", "chat-0-front", 3, 1),
        ("podcliquescalinggroup", "chat-0-model", 2, 0),
        ("podcliqueset", "chat", 1, 0),
    ],
)
async def test_what_is_scaled_out_again_in_the_morning_takes_nobody_down(
    kind: str, name: str, by_day: int, by_night: int, world: LiveCluster
) -> None:
    declared = copy.deepcopy(SERVING)
    declared["spec"]["template"]["terminationDelay"] = "3s"
    declared["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": 3, "minAvailable": 2}
    pods = (*FRONT, "chat-0-front-2", *BASE, *SCALED)
    await world.apply(declared)
    await world.until_ready(*pods)
    await world.kubectl("scale", kind, name, f"--replicas={by_night}")
    others = tuple(one for one in pods if not one.startswith(name))
    await world.until_ready(*others, *(f"{name}-{index}" for index in range(by_night)))
    before = await world.names("pods")
    await asyncio.sleep(NIGHT)
    await world.kubectl("scale", kind, name, f"--replicas={by_day}")
    await world.until_ready(*pods)
    await asyncio.sleep(NIGHT)
    assert set(before) <= set(await world.names("pods"))
    assert [one["reason"] for one in await world.objects("events") if one["reason"].startswith("GangTerminat")] == []
