"""What is deleted because of its state stays where that has changed, however late a watch tells, and so does what goes with it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from itertools import count

from applier.cache import Query
from applier.desired import Deletion, Graph, ObjectReference
from applier.errors import ServerFailure
from applier.loop import View
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, config_map, lab, loops_running, now, ref, some

PAIRS = ("a-1", "a-2", "b-1", "b-2")
TOLD = "is not deleted (it has failed), for it, or what it is deleted together with, has changed since it was read"


def pair(manifest: Manifest) -> Hashable | None:
    """The pair that an object is of, by its name."""
    name: str = manifest["metadata"]["name"]
    return name.rpartition("-")[0]


def failed_pairs_go(view: View, key: str) -> Graph:
    """A function that deletes each pair of which one has failed."""
    there = {name: one for name in PAIRS if (one := view.get(ref(f"{key}-{name}"))) is not None}
    failed = {name[0] for name, one in there.items() if one["data"]["state"] == "failed"}
    due = [one for name, one in there.items() if name[0] in failed]
    return Graph([], deletions=[Deletion(ObjectReference.of(one), "it has failed") for one in due])


async def two_pairs(world: Lab) -> None:
    """Of each pair one has failed, and that of the first recovers while the watch is silent. Nothing is deleted so far."""
    world.reconciler.members, world.desired = None, lambda view, key: Graph([])
    states = {name: "failed" if name.endswith("1") else "well" for name in PAIRS}
    world.cluster.seed(*(config_map(f"set-{name}", {"state": state}) for name, state in states.items()), some("set", 0))
    await asyncio.sleep(4)
    world.cluster.stall_watches()
    world.cluster.seed(config_map("set-a-1", {"state": "well"}))


async def deleted(world: Lab, after: float) -> list[str]:
    """Has failed pairs deleted after some seconds; returns what is left."""
    await asyncio.sleep(after)
    world.desired = failed_pairs_go
    world.loop.enqueue("set")
    await asyncio.sleep(0.01)
    return world.made()


@in_virtual_time
async def test_what_has_recovered_unseen_stays_with_its_pair_and_the_rest_goes() -> None:
    world = lab(unit=pair)
    async with loops_running(world):
        await two_pairs(world)
        assert await deleted(world, after=0) == ["set-a-1", "set-a-2"]
        assert TOLD in [outcome.reason for result in world.results for outcome in result.outcomes]
        assert len(world.cluster.writes()) < 20, "attempts have pauses"


@in_virtual_time
async def test_a_watch_that_has_been_silent_for_long_is_renewed_at_once() -> None:
    world = lab(unit=pair)
    async with loops_running(world):
        await two_pairs(world)
        assert await deleted(world, after=6) == ["set-a-1", "set-a-2"]
        await asyncio.sleep(3)
        assert (world.made(), world.told()) == (["set-a-1", "set-a-2"], "")


@in_virtual_time
async def test_what_goes_in_any_state_goes() -> None:
    world = lab()
    async with loops_running(world):
        await two_pairs(world)
        assert await deleted(world, after=0) == []


@in_virtual_time
async def test_what_goes_together_stays_while_nobody_knows_whether_one_of_it_has_changed() -> None:
    world = lab(unit=pair)
    async with loops_running(world):
        await two_pairs(world)
        no = ServerFailure(500, "InternalError", "no")
        world.cluster.fail(lambda one: one.verb == "patch" and one.name == "set-a-1", no, times=100)
        assert await deleted(world, after=0) == ["set-a-1", "set-a-2"]


@in_virtual_time
async def test_only_kinds_of_which_something_has_changed_unseen_are_read_again() -> None:
    world = lab(unit=pair, kinds=[Query(Kind("", "v1", "Secret"))])
    async with loops_running(world):
        await two_pairs(world)

        def reads_more(view: View, key: str) -> Graph:
            view.by_label("", "Secret")
            return failed_pairs_go(view, key)

        await asyncio.sleep(6)
        world.desired, before = reads_more, world.cluster.requests.copy()
        world.loop.enqueue("set")
        await asyncio.sleep(3)
        assert (world.cluster.requests - before)["watch", "configmaps"] == 1
        assert (world.cluster.requests - before)["watch", "secrets"] == 0


async def crowd(world: Lab, count: int, latency: float) -> None:
    """Lets one unit of so many be due on a server that takes so many seconds for each write."""

    async def take(request: MemoryRequest) -> None:
        await asyncio.sleep(latency if request.verb in ("patch", "delete", "get") else 0.0)

    world.reconciler.members, world.desired = None, lambda view, key: Graph([])
    names = [f"set-a-{number}" for number in range(count)]
    world.cluster.seed(*(config_map(name, {"state": "failed"}) for name in names), some("set", 0))
    await asyncio.sleep(1)
    world.cluster.before = take

    def all_go(view: View, key: str) -> Graph:
        there = [one for name in names if (one := view.get(ref(name))) is not None]
        return Graph([], deletions=[Deletion(ObjectReference.of(one), "it has failed") for one in there])

    world.desired = all_go
    world.loop.enqueue("set")


async def beat(world: Lab, pause: float) -> None:
    """Somebody annotates what is left, one object after the other, as kubelets and others write all the time."""
    for number in count():
        await asyncio.sleep(pause)
        if not (left := world.made()):
            return
        one = world.cluster.find(ref(left[number % len(left)])) or {}
        annotations = {**(one["metadata"].get("annotations") or {}), "beat": str(number)}
        world.cluster.seed({**one, "metadata": {**one["metadata"], "annotations": annotations}})


async def gone_within(world: Lab, seconds: float) -> bool:
    """Whether all that was made is deleted within some seconds."""
    until = now() + seconds
    while world.made() and now() < until:
        await asyncio.sleep(0.1)
    return not world.made()


@in_virtual_time
async def test_what_changes_all_the_time_in_other_ways_than_its_state_goes_at_once() -> None:
    world = lab(unit=pair, state=lambda one: one["data"])
    async with loops_running(world):
        await crowd(world, 40, latency=0.02)
        beating = asyncio.ensure_future(beat(world, pause=0.01))
        assert await gone_within(world, 2)
        assert len(world.cluster.writes()) < 150
        await beating


@in_virtual_time
async def test_many_that_go_together_go_on_a_slow_server_though_what_they_are_decided_by_changes() -> None:
    world = lab(unit=pair, state=lambda one: one["data"])
    async with loops_running(world):
        await crowd(world, 40, latency=0.5)
        beating = asyncio.ensure_future(beat(world, pause=1.0))
        assert await gone_within(world, 5)
        assert all("it was decided by" not in outcome.reason for result in world.results for outcome in result.outcomes)
        await beating
