"""Updates on a real control plane: pods are rolled, an edit that is taken back ends where it began, and gangs are restarted."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from applier.ref import Manifest

from .world import BASE, FRONT, SCALED, SERVING, LiveCluster

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


def with_image(tag: str) -> Manifest:
    edited = copy.deepcopy(SERVING)
    for one in edited["spec"]["template"]["cliques"]:
        one["spec"]["podSpec"]["containers"][0]["image"] = f"registry.example/app:{tag}"
    return edited


async def images(world: LiveCluster) -> set[str]:
    return {one["spec"]["containers"][0]["image"].rpartition(":")[2] for one in await world.objects("pods")}


async def progress(world: LiveCluster) -> list[Any]:
    """Whether the set's update is over, and the numbers of its revisions."""
    [set] = await world.objects("sets")
    told = set.get("status", {}).get("updateProgress", {})
    revisions = await world.kubectl("get", "controllerrevisions", "-o", "jsonpath={.items[*].revision}")
    return ["updateEndedAt" in told, sorted(map(int, revisions.split()))]


async def test_an_edit_rolls_all_pods_and_one_that_is_taken_back_rolls_them_back(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    [set] = await world.objects("sets")
    generation = set["status"]["currentGenerationHash"]
    await world.apply(with_image("2"))
    await world.until(lambda: images(world), {"2"})
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: progress(world), [True, [1, 2]])
    await world.apply(SERVING)
    await world.until(lambda: images(world), {"1"})
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: progress(world), [True, [2, 3]])
    [set] = await world.objects("sets")
    assert set["status"]["currentGenerationHash"] == generation


async def test_another_spelling_of_a_template_restarts_nothing(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await world.names("pods")
    edited = copy.deepcopy(SERVING)
    edited["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"]["requests"]["cpu"] = "0.01"
    await world.apply(edited)
    await world.until(lambda: observed(world), True)
    assert await world.names("pods") == before
    assert await progress(world) == [False, [1]]


async def observed(world: LiveCluster) -> bool:
    [set] = await world.objects("sets")
    return bool(set["status"].get("observedGeneration") == set["metadata"]["generation"] == 2)
