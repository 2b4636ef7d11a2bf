"""Of a kind to which nothing happens a server says nothing. Who has to be sure asks it, and nobody waits for a word that may never come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from applier.cache import Query
from applier.desired import Desired, Graph
from applier.errors import ServerFailure, Unreachable
from applier.loop import View
from applier.ref import Manifest
from applier.testing.memory import MemoryCluster, MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, _members, config_map, desired, lab, loops_running, ref, some
from .test_no_harm import POD, asks_for_pods, deletes, of

HOUR = 3600.0
SECONDS = 3.0
LATE = 2.7
QUIET = (Query(POD),)
SETS = [f"set{number}" for number in range(10)]
FIVE = [config_map(f"set-{number}", {"value": "1"}) for number in range(5)]


def with_pods(view: View, key: str) -> Iterable[Manifest]:
    """The members of a key, beside which pods count, of which there are none."""
    return [*_members(view, key), *view.by_label("", "Pod")]


def named(view: View, key: str) -> Iterable[Manifest]:
    """The members of a key by their names, also of one that is gone."""
    return [one for number in range(5) if (one := view.get(ref(f"{key}-{number}"))) is not None]


def silent(**options: Any) -> Lab:
    """A loop on a server that tells nothing of a kind to which nothing happens."""
    world = lab(kinds=QUIET, **options)
    world.cluster.store.has_progress = False
    world.reconciler.members = with_pods
    world.cluster.seed(some("set", 3))
    return world


def candidates() -> tuple[Lab, Lab]:
    """One that leads, and one that waits."""
    first = silent(lease="a")
    second = Lab(first.cluster, lease="b", kinds=QUIET)
    second.reconciler.members = with_pods
    return first, second


async def hand_over(first: Lab, second: Lab) -> None:
    """The one that leads gives up, and the other leads."""
    first.loop.stop()
    assert second.lease is not None
    await second.lease.held.wait()


@in_virtual_time
async def test_what_has_to_go_goes_at_once_after_an_hour_in_which_nothing_happened() -> None:
    world = silent()
    async with loops_running(world):
        await asyncio.sleep(HOUR)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(SECONDS)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_so_does_what_a_key_leaves_that_is_gone() -> None:
    world = silent()
    async with loops_running(world):
        world.reconciler.members, world.desired = named, asks_for_pods
        await asyncio.sleep(HOUR)
        world.cluster.store.remove(ref("set"))
        await asyncio.sleep(SECONDS)
        assert world.made() == []


@in_virtual_time
async def test_a_new_leader_deletes_within_seconds() -> None:
    first, second = candidates()
    async with loops_running(first, second):
        await asyncio.sleep(HOUR)
        await hand_over(first, second)
        first.cluster.seed(some("set", 1))
        await asyncio.sleep(SECONDS)
        assert second.made() == ["set-0"] and len(deletes(second)) == 2


@in_virtual_time
async def test_what_has_to_go_goes_as_soon_as_a_slow_server_has_told_that_nothing_has_changed() -> None:
    """Else the back-off, which grew meanwhile, delayed it by as long again."""
    world = silent()
    async with loops_running(world):
        await asyncio.sleep(HOUR)
        world.cluster.before = answered_late
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(LATE + 0.1)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_a_new_leader_that_has_nothing_to_delete_asks_nothing() -> None:
    first, second = candidates()
    async with loops_running(first, second):
        await asyncio.sleep(HOUR)
        before = reads(first.cluster)
        await hand_over(first, second)
        await asyncio.sleep(10)
        assert reads(first.cluster) - before <= 2, "no more than streams that have been silent for two minutes"


@in_virtual_time
async def test_a_new_leader_hears_what_others_did_before_it_deletes() -> None:
    """It has seen a set that wants one object, of which there are five; that it wants five by now nobody has told it."""
    first, second = candidates()
    first.cluster.seed(some("set", 1))
    first.desired = lambda view, key: desired(view, key) if view.get(ref(key)) is None else Graph([Desired(one) for one in FIVE])
    async with loops_running(first, second):
        await asyncio.sleep(10)
        assert len(first.made()) == 5
        second.reconciler.members = named
        first.cluster.stall_watches()
        first.cluster.seed(some("set", 5))
        await hand_over(first, second)
        second.loop.enqueue("set")
        await asyncio.sleep(SECONDS)
        assert len(second.made()) == 5 and deletes(second) == []


@pytest.mark.parametrize("error", [Unreachable("no route"), ServerFailure(500, "InternalError", "etcd is away")])
def test_a_new_leader_deletes_nothing_while_the_server_does_not_answer(error: Exception) -> None:
    @in_virtual_time
    async def live_through() -> None:
        first, second = candidates()
        async with loops_running(first, second):
            await asyncio.sleep(HOUR)
            await hand_over(first, second)
            first.cluster.fail(of("pods"), error, times=-1)
            first.cluster.seed(some("set", 1))
            await asyncio.sleep(HOUR)
            assert len(second.made()) == 3 and deletes(second) == []
            first.cluster.faults.clear()
            await asyncio.sleep(40)
            assert second.made() == ["set-0"]

    live_through()


@in_virtual_time
async def test_what_failed_is_tried_again_as_soon_as_a_watch_reaches_the_server_again() -> None:
    """Else each waits out its own back-off, of up to half a minute, after all outages but the shortest."""
    world = lab()
    world.cluster.seed(*(some(name, 3) for name in SETS))
    async with loops_running(world):
        await asyncio.sleep(10)
        world.cluster.fail(lambda request: request.resource.plural != "leases", Unreachable("no route"), times=-1)
        world.cluster.seed(*(some(name, 4) for name in SETS))
        await asyncio.sleep(1)  # they are seen, and cannot be written
        world.cluster.end_watches()
        await asyncio.sleep(600)
        world.cluster.faults.clear()
        while any(source.error is not None for source in world.cache.sources()):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(world.made()) == 4 * len(SETS)


async def answered_late(request: MemoryRequest) -> None:
    await asyncio.sleep(LATE if request.verb == "watch" else 0)


def reads(cluster: MemoryCluster) -> int:
    """How often it was asked for objects, but for leases."""
    return sum(count for (verb, plural), count in cluster.requests.items() if verb in ("get", "list", "watch") and plural != "leases")
