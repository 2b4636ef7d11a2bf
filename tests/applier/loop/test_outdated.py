"""What was to go when a reconcile began, and is wanted again while its other writes are slow, stays."""

from __future__ import annotations

import asyncio

import pytest

from applier.desired import Deletion, Desired, Graph, ObjectReference
from applier.loop import View
from applier.ref import uid_of
from applier.testing.memory import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, config_map, lab, loops_running, ref, some


def desired(view: View, key: str) -> Graph:
    """A set without replicas wants another object, and its member gone; one with a replica wants that kept."""
    primary, member = view.get(ref(key)), view.get(ref(f"{key}-member"))
    if primary is None or member is None:
        return Graph([])
    if primary["data"]["count"] == "0":
        return Graph([Desired(config_map(f"{key}-new", {}))], deletions=[Deletion(ObjectReference.of(member), "scaled in")])
    return Graph([Desired(config_map(f"{key}-new", {}))])


async def scaled_in_beside(world: Lab, slow: str) -> str:
    """Scales a set in where a verb takes eight seconds, and out again after four; returns the UID that its member had."""

    async def before(request: MemoryRequest) -> None:
        await asyncio.sleep(8 if request.verb == slow and request.name.startswith("set-") else 0)

    world.reconciler.members, world.desired = None, desired
    world.cluster.before = before
    [member] = world.cluster.seed(config_map("set-member", {}))
    world.cluster.seed(some("set", 0))
    await asyncio.sleep(4)
    world.cluster.seed(some("set", 1))
    await asyncio.sleep(60)
    return uid_of(member)


@pytest.mark.parametrize("slow", ["apply", "patch"], ids=["what is created before", "the reason of the deletion"])
@in_virtual_time
async def test_what_is_wanted_again_meanwhile_stays(slow: str) -> None:
    world = lab()
    async with loops_running(world):
        uid = await scaled_in_beside(world, slow)
        left = world.cluster.find(ref("set-member"))
        assert left is not None and uid_of(left) == uid
        assert world.told() == ""


@in_virtual_time
async def test_what_nobody_wants_goes_however_slow_other_writes_are() -> None:
    world = lab()
    async with loops_running(world):

        async def before(request: MemoryRequest) -> None:
            await asyncio.sleep(8 if request.verb == "apply" else 0)

        world.reconciler.members, world.desired = None, desired
        world.cluster.before = before
        world.cluster.seed(config_map("set-member", {}), some("set", 0))
        await asyncio.sleep(4)
        world.cluster.seed(some("set", 0, value="2"))
        await asyncio.sleep(6)
        assert world.made() == ["set-new"]
