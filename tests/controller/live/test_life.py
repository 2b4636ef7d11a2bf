"""The life of a set: it comes up, heals, and goes without a trace."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from grove_compiler.labels import MANAGED_BY, PART_OF

from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


async def test_a_set_comes_up_whole_the_base_gang_before_the_scaled_one(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    assert await world.names("gangs") == ["chat-0", "chat-0-model-0"]
    assert await world.names("groups") == ["chat-0-model"]


async def test_a_pod_that_is_deleted_comes_back_with_its_index(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front", 3)))
    await world.until_ready("chat-0-front-0", "chat-0-front-1", "chat-0-front-2")
    victim = next(pod for pod in await world.objects("pods") if pod["spec"]["hostname"] == "chat-0-front-1")
    await world.kubectl("delete", "pod", victim["metadata"]["name"], "--wait=false")
    await world.until(lambda: gone(world, victim["metadata"]["uid"]), wanted=True)
    await world.until_ready("chat-0-front-0", "chat-0-front-1", "chat-0-front-2")


async def test_a_pod_that_is_deleted_by_force_never_has_the_name_of_its_replacement(world: LiveCluster) -> None:
    """Whether the operator sees that it goes, or is too slow for that."""
    await world.apply(pod_clique_set(clique("front", 2)))
    had: list[str] = []
    for turn in range(6):
        await world.until_ready("chat-0-front-0", "chat-0-front-1")
        [name] = [pod["metadata"]["name"] for pod in await world.objects("pods") if pod["spec"]["hostname"] == "chat-0-front-1"]
        had.append(name)
        force = ("delete", "pod", name, "--force", "--grace-period=0")
        if turn % 2 == 0:
            await world.kubectl(*force)
        else:
            world.plane.kubectl("-n", world.namespace, *force)  # nothing else happens in this process
        await world.until(lambda name=name: is_there(world, name), False)  # type: ignore[misc]
    assert len(set(had)) == len(had)


async def test_labels_that_somebody_sets_in_all_pods_are_put_back_and_no_pod_is_replaced(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    await world.kubectl("label", "pods", "--all", "--overwrite", f"{MANAGED_BY}=helm", "app.kubernetes.io/part-of-")

    async def labels() -> set[tuple[str | None, ...]]:
        pods = await world.objects("pods")
        return {tuple((pod["metadata"].get("labels") or {}).get(name) for name in (MANAGED_BY, PART_OF)) for pod in pods}

    await world.until(labels, wanted={("grove-operator", "chat")})
    assert {pod["metadata"]["uid"] for pod in await world.objects("pods")} == before


async def is_there(world: LiveCluster, name: str) -> bool:
    return name in await world.names("pods")


async def gone(world: LiveCluster, uid: str) -> bool:
    return all(pod["metadata"]["uid"] != uid for pod in await world.objects("pods"))


@pytest.mark.parametrize(("kind", "name"), [("service", "chat-0"), ("podgang", "chat-0-model-0"), ("podclique", "chat-0-front")])
async def test_what_somebody_deletes_comes_back_at_once(world: LiveCluster, kind: str, name: str) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = (await world.get(kind, name))["metadata"]["uid"]
    await world.kubectl("delete", kind, name, "--wait=false")

    async def is_new() -> bool:
        found = await world.get(kind, name)
        return found is not None and found["metadata"]["uid"] != before

    await world.until(is_new, wanted=True)
    await world.until_ready(*FRONT, *BASE, *SCALED)


async def test_what_somebody_edits_is_put_back(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front")))
    await world.until_ready("chat-0-front-0")
    await world.kubectl("label", "podclique", "chat-0-front", "app.kubernetes.io/component=mine", "--overwrite")
    look = ("get", "podclique", "chat-0-front", "-o", "jsonpath={.metadata.labels.app\\.kubernetes\\.io/component}")
    await world.until(lambda: world.kubectl(*look), "pcs-podclique")


async def test_a_set_that_is_deleted_leaves_nothing_behind(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.kubectl("delete", "podcliqueset", "chat", "--wait=false")
    for what in ("sets", "pods", "cliques", "groups", "gangs", "services"):
        await world.until(partial(world.names, what), [])


async def test_an_operator_that_starts_anew_changes_nothing_of_what_is_right(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.at_rest()
    before = await versions(world)
    await world.kill()
    world.results.clear()
    await world.start()
    await world.until(lambda: looked_at(world), {None, 0})
    await world.at_rest()
    assert await versions(world) == before


async def looked_at(world: LiveCluster) -> set[int | None]:
    """The replicas of sets that the operator has looked at, and none for a set as a whole."""
    return {result.key.replica for result in world.results}


async def versions(world: LiveCluster) -> dict[str, str]:
    """What every write to an object changes."""
    objects = [one["metadata"] for what in ("sets", "pods", "cliques", "groups", "gangs") for one in await world.objects(what)]
    return {one["uid"]: one["resourceVersion"] for one in objects}


async def test_an_operator_that_is_killed_while_a_set_comes_up_ends_where_another_one_does(world: LiveCluster) -> None:
    await world.apply(SERVING)
    for _ in range(8):
        await asyncio.sleep(0.03)
        await world.kill()
        await world.start()
    await world.until_ready(*FRONT, *BASE, *SCALED)


async def test_a_namespace_that_is_deleted_goes_with_all_that_is_in_it(whole_cluster: LiveCluster) -> None:
    world = whole_cluster
    await world.start(everywhere=True)
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = len(world.results)
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false")
    await world.until(lambda: world.get("namespace", world.namespace), None)
    await world.stop()
    assert [result.held for result in world.results[before:] if result.held] == []
