"""Finalizers of our own: taken off what we delete, and what somebody else has deleted."""

from __future__ import annotations

import asyncio

from applier.errors import NotFound
from applier.ref import uid_of
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import CONFIG_MAP, Lab, lab, loops_running, ref, some

OURS, THEIRS = "example.com/ours", "example.com/theirs"


def held_by(world: Lab, name: str, *finalizers: str) -> None:
    """Puts finalizers on an object that is there."""
    old = world.cluster.store.objects[ref(name)]
    world.cluster.seed({**old, "metadata": {**old["metadata"], "finalizers": list(finalizers)}})


async def deleted_by_somebody(world: Lab, name: str) -> str:
    """Deletes an object that is there, and lets the loop see it; the UID that it had."""
    uid = uid_of(world.cluster.store.objects[ref(name)])
    await world.cluster.delete(world.cluster.kinds.get(CONFIG_MAP), "default", name, uid=uid)
    await asyncio.sleep(1)
    return uid


@in_virtual_time
async def test_who_deletes_an_object_takes_its_own_finalizer_off_and_leaves_those_of_others() -> None:
    world = lab(finalizers=[OURS])
    world.cluster.seed(some("set", 3))
    async with loops_running(world):
        held_by(world, "set-1", OURS, THEIRS)
        held_by(world, "set-2", OURS)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert world.made() == ["set-0", "set-1"]
        assert world.cluster.store.objects[ref("set-1")]["metadata"]["finalizers"] == [THEIRS]


@in_virtual_time
async def test_a_finalizer_that_somebody_adds_meanwhile_stays() -> None:
    """A merge patch replaces the whole list: it must be refused where the list is another one by then."""
    world, added = lab(finalizers=[OURS]), list[str]()
    world.cluster.seed(some("set", 2))

    def add(request: MemoryRequest) -> bool:
        if (request.verb, request.name, added) == ("patch", "set-1", []):
            added.append(THEIRS)
            held_by(world, "set-1", OURS, *added)
        return False

    async with loops_running(world):
        held_by(world, "set-1", OURS)
        world.cluster.fail(add, NotFound(404, "NotFound", "is never raised"), times=1000)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(10)
        assert added == world.cluster.store.objects[ref("set-1")]["metadata"]["finalizers"] == [THEIRS]


@in_virtual_time
async def test_a_guard_keeps_what_somebody_else_deletes_until_it_is_no_longer_wanted() -> None:
    world = lab(guards=[OURS])
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        held_by(world, "set-0", OURS)
        old = await deleted_by_somebody(world, "set-0")
        assert uid_of(world.cluster.store.objects[ref("set-0")]) == old
        world.cluster.seed(some("set", 0))
        await asyncio.sleep(1)
        assert world.made() == []


@in_virtual_time
async def test_what_somebody_else_deletes_is_let_go_and_made_again() -> None:
    world = lab(finalizers=[OURS])
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        held_by(world, "set-0", OURS)
        old = await deleted_by_somebody(world, "set-0")
        assert uid_of(world.cluster.store.objects[ref("set-0")]) != old
