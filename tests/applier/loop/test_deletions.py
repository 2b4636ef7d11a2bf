"""What has to go is deleted in order: of all keys what nothing rests on, and then what that rested on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.desired import Gone, Graph
from applier.errors import ServerFailure, Unreachable
from applier.loop import View
from applier.ref import Manifest, uid_of
from applier.testing.virtual_time import in_virtual_time

from .lab import WHY, Lab, config_map, lab, loops_running, ref, some

MEMBERS = ("child", "loner", "owner")


def members(view: View, key: str) -> list[Manifest]:
    """The objects of a key: by name, since its primary object may be gone."""
    return [one for member in MEMBERS if (one := view.get(ref(f"{key}-{member}"))) is not None]


async def families(world: Lab, *names: str, finalizers: Sequence[str] = ()) -> None:
    """Lets there be keys with an owner, its child, and an object that has nothing to do with them, all of which have to go."""
    world.reconciler.members = members
    world.desired = lambda view, key: Gone()
    for name in names:
        [owner] = world.cluster.seed(config_map(f"{name}-owner", {}))
        of = {"apiVersion": "v1", "kind": "ConfigMap", "name": f"{name}-owner", "uid": uid_of(owner)}
        world.cluster.seed(config_map(f"{name}-child", {}, ownerReferences=[of], finalizers=[*finalizers]), config_map(f"{name}-loner", {}))
    world.cluster.seed(*(some(name, 0) for name in names))
    await asyncio.sleep(1)


def deleted(world: Lab) -> list[str]:
    return [request.name for request in world.cluster.writes() if request.verb == "delete"]


@in_virtual_time
async def test_what_nothing_rests_on_goes_first_of_all_keys() -> None:
    world = lab(workers=1)
    async with loops_running(world):
        await families(world, "set1", "set2", "set3")
        assert deleted(world)[:3] == ["set1-child", "set2-child", "set3-child"]
        assert world.made() == []


@in_virtual_time
async def test_what_cannot_be_deleted_keeps_back_what_it_rests_on_and_nothing_else() -> None:
    world = lab()
    world.cluster.fail(lambda one: one.verb == "delete" and one.name == "set-child", ServerFailure(500, "InternalError", "no"), times=3)
    async with loops_running(world):
        await families(world, "set")
        assert deleted(world)[:3] == ["set-child", "set-loner", "set-child"]
        assert deleted(world)[-2:] == ["set-child", "set-owner"]
        assert world.made() == []


@in_virtual_time
async def test_nobody_waits_for_what_is_slow_to_go() -> None:
    world = lab(workers=1)
    async with loops_running(world):
        await families(world, "set1", finalizers=["example.com/slow"])
        await families(world, "set2")
        assert world.made() == ["set1-child"]


@in_virtual_time
async def test_what_is_gone_already_is_asked_for_once_however_late_a_watch_tells() -> None:
    world = lab(workers=1)
    world.reconciler.members = members
    world.desired = lambda view, key: Graph([])
    async with loops_running(world):
        world.cluster.seed(config_map("set-child", {}))
        await asyncio.sleep(1)
        world.cluster.stall_watches()
        world.cluster.fail("delete", Unreachable("the answer was lost", maybe_done=True), after=True)
        world.loop.enqueue("set")
        await asyncio.sleep(5)
        assert deleted(world) == ["set-child", "set-child"]


@in_virtual_time
async def test_the_reason_of_a_deletion_that_was_not_carried_out_is_not_that_of_a_later_one() -> None:
    world = lab()
    world.reconciler.members = members
    world.desired = lambda view, key: Graph([])
    world.cluster.seed(config_map("set-child", {}, annotations={WHY: "an update", "theirs": "1"}, finalizers=["example.com/slow"]))
    async with loops_running(world):
        world.cluster.seed(some("set", 0))
        await asyncio.sleep(1)
        assert deleted(world) == ["set-child"]
        assert (world.cluster.find(ref("set-child")) or {})["metadata"]["annotations"] == {"theirs": "1"}
