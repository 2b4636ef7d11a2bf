"""What is deleted because of its state stays where that has changed, however late a watch tells, and so does what goes with it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from applier.desired import Deletion, Graph, ObjectReference
from applier.loop import View
from applier.ref import Manifest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, config_map, lab, loops_running, ref, some

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
        assert world.told() == TOLD
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
