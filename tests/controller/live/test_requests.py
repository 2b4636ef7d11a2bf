"""What the operator asks of a server: nothing at rest, and no more writes for a change than it takes."""

from __future__ import annotations

import asyncio

import pytest

from applier.cache import definitions, watch_cache
from applier.testing.control_plane import ControlPlane
from applier.testing.counts import Requests
from applier.transport import connect
from grove_operator.controller import statuses

from .account import ACCOUNT
from .world import AGENT, PATIENCE, QUIET, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")
HOSTNAMES = ("chat-0-front-0", "chat-0-front-1", "chat-0-front-2")


async def asked(world: LiveCluster, since: int) -> Requests:
    """What the operator has asked since a mark."""
    return (await asyncio.to_thread(world.plane.requests, since)).only(agent=AGENT, namespace=world.namespace)


async def mark_at_rest(world: LiveCluster) -> int:
    """Waits until the operator has nothing more to do; gives a mark."""
    await world.at_rest()
    return await asyncio.to_thread(world.plane.mark)


async def test_operators_of_these_tests_have_the_rights_of_an_installed_one(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front")))
    await world.until_ready(*HOSTNAMES[:1])
    assert {one.user for one in await asked(world, 0)} == {ACCOUNT}


async def test_a_set_at_rest_costs_no_request(world: LiveCluster) -> None:
    await world.apply(pod_clique_set(clique("front", 3)))
    await world.until_ready(*HOSTNAMES)
    mark = await mark_at_rest(world)
    await asyncio.sleep(QUIET)
    assert [one for one in await asked(world, mark) if one.verb != "watch"] == []


async def test_an_operator_at_rest_asks_nothing_whatever_is_not_installed(
    grove_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kinds are waited for by a watch of definitions. Whoever may not watch these asks again, at most every half minute."""
    monkeypatch.setattr(watch_cache, "MAX_WAIT", 1.0)
    monkeypatch.setattr(definitions, "SETTLING", 1.0)
    async with connect(kubeconfig=str(grove_plane.kubeconfig), user_agent=f"at-rest-{namespace}") as cluster:
        world = LiveCluster(grove_plane, cluster, namespace)
        await world.start()
        assert world.operator is not None
        await world.at_rest()
        assert world.operator.cache.unserved()
        await asyncio.sleep(2 * QUIET)
        mark = await asyncio.to_thread(grove_plane.mark)
        await asyncio.sleep(2 * QUIET)
        asked = (await asyncio.to_thread(grove_plane.requests, mark)).only(agent=f"at-rest-{namespace}")
        await world.stop()
    assert [one for one in asked if one.verb != "watch"] == []


async def test_a_pod_that_is_deleted_is_repaired_by_four_writes(world: LiveCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its successor is ready within the delay of status reports, which is longer here for slow machines."""
    monkeypatch.setattr(statuses, "DELAY", 10 * PATIENCE)
    await world.apply(pod_clique_set(clique("front", 3)))
    await world.until_ready(*HOSTNAMES)
    mark = await mark_at_rest(world)
    victim = (await world.names("pods"))[0]
    uids = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    await world.kubectl("delete", "pod", victim, "--wait=false")
    await world.until(lambda: has_new(world, uids), wanted=True)
    await world.until_ready(*HOSTNAMES)
    await world.at_rest()
    writes = (await asked(world, mark)).writes
    assert len(writes) <= 4, writes


async def test_a_pod_of_a_scaling_group_costs_no_more(world: LiveCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses, "DELAY", 10 * PATIENCE)
    groups = [{"name": "model", "cliqueNames": ["work"], "replicas": 1}]
    hostnames = ("chat-0-model-0-work-0", "chat-0-model-0-work-1")
    await world.apply(pod_clique_set(clique("work", 2), podCliqueScalingGroups=groups))
    await world.until_ready(*hostnames)
    mark = await mark_at_rest(world)
    uids = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    await world.kubectl("delete", "pod", (await world.names("pods"))[0], "--wait=false")
    await world.until(lambda: has_new(world, uids), wanted=True)
    await world.until_ready(*hostnames)
    await world.at_rest()
    writes = (await asked(world, mark)).writes
    assert len(writes) <= 4, writes


async def has_new(world: LiveCluster, uids: set[str]) -> bool:
    pods = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    return len(pods) == len(uids) and pods != uids
