"""Updates on a real control plane: pods are rolled, an edit that is taken back ends where it began, and gangs are restarted."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from applier.ref import Manifest

from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, clique, pod_clique_set

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


async def test_a_new_size_reaches_all_but_what_somebody_has_scaled(world: LiveCluster) -> None:
    """The server tells whose a PodClique's replicas are. The size of the third replica of the group is in no revision."""

    def declared(size: int, tag: str) -> Manifest:
        work = clique("work", size, minAvailable=1)
        work["spec"]["podSpec"]["containers"][0]["image"] = f"registry.example/app:{tag}"
        group = {"name": "model", "cliqueNames": ["lead", "work"], "replicas": 2, "minAvailable": 1}
        return pod_clique_set(clique("lead"), work, podCliqueScalingGroups=[group])

    def hostnames(*sizes: int) -> list[str]:
        works = [f"chat-0-model-{member}-work-{index}" for member, size in enumerate(sizes) for index in range(size)]
        return [*works, *(f"chat-0-model-{member}-lead-0" for member in range(len(sizes)))]

    await world.apply(declared(1, "1"))
    await world.until_ready(*hostnames(1, 1))
    await world.apply(declared(2, "1"))
    await world.kubectl("scale", "podcliquescalinggroups.grove.io/chat-0-model", "--replicas=3")
    await world.kubectl("scale", "podcliques.grove.io/chat-0-model-1-work", "--replicas=3")
    await world.until_ready(*hostnames(1, 3, 2))
    await world.apply(declared(4, "2"))
    await world.until_ready(*hostnames(4, 3, 4))
    await world.until(lambda: progress(world), [True, [1, 2]])


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


async def test_815_an_update_takes_as_many_as_it_may_and_is_late_where_they_fit_nowhere(world: LiveCluster) -> None:
    front = clique("front", 3, minAvailable=1) | {"rollingUpdate": {"maxUnavailable": 2, "progressDeadline": "3s"}}
    await world.apply(pod_clique_set(front))
    hostnames = [f"chat-0-front-{index}" for index in range(3)]
    await world.until_ready(*hostnames)
    nowhere = copy.deepcopy(front)
    nowhere["spec"]["podSpec"]["nodeSelector"] = {"no": "such"}
    await world.apply(pod_clique_set(nowhere))
    await world.until(lambda: update_in_progress(world), ("Unknown", "ProgressDeadlineExceeded"))
    assert sum("nodeSelector" not in one["spec"] for one in await world.objects("pods")) == 1
    await world.apply(pod_clique_set(front))
    await world.until_ready(*hostnames)
    await world.until(lambda: update_in_progress(world), ("False", "NoActiveUpdate"))


async def update_in_progress(world: LiveCluster) -> tuple[str, str]:
    [set] = await world.objects("sets")
    conditions = {one["type"]: one for one in set["status"].get("conditions", ())}
    found = conditions.get("UpdateInProgress", {})
    return found.get("status", ""), found.get("reason", "")
