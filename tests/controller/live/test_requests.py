"""What the operator asks of a server: nothing at rest, and no more writes for a change than it takes."""

from __future__ import annotations

import asyncio

import pytest

from applier.testing.counts import Requests

from .world import AGENT, World, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")
HOSTNAMES = ("chat-0-front-0", "chat-0-front-1", "chat-0-front-2")
QUIET = 2.0  # seconds without a look, after which nothing more is to be done


async def asked(world: World, since: int) -> Requests:
    """What the operator, and the test itself, which only lists, have asked since a mark."""
    return (await asyncio.to_thread(world.plane.requests, since)).only(agent=AGENT, namespace=world.namespace)


async def at_rest(world: World) -> int:
    """Waits until the operator looks at nothing any more; gives a mark."""
    while True:
        looks = len(world.results)
        await asyncio.sleep(QUIET)
        if len(world.results) == looks:
            return await asyncio.to_thread(world.plane.mark)


async def test_a_set_at_rest_costs_no_request(world: World) -> None:
    await world.apply(pod_clique_set(clique("front", 3)))
    await world.until_ready(*HOSTNAMES)
    mark = await at_rest(world)
    await asyncio.sleep(QUIET)
    assert [one for one in await asked(world, mark) if one.verb != "watch"] == []


async def test_a_pod_that_is_deleted_is_repaired_by_four_writes(world: World) -> None:
    await world.apply(pod_clique_set(clique("front", 3)))
    await world.until_ready(*HOSTNAMES)
    mark = await at_rest(world)
    victim = (await world.names("pods"))[0]
    uids = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    await world.kubectl("delete", "pod", victim, "--wait=false")
    await world.until(lambda: has_new(world, uids), wanted=True)
    await world.until_ready(*HOSTNAMES)
    await at_rest(world)
    writes = (await asked(world, mark)).writes
    assert len(writes) <= 4, writes


async def has_new(world: World, uids: set[str]) -> bool:
    pods = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    return len(pods) == len(uids) and pods != uids
