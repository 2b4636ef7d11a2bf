"""What was there when a function looked, and is deleted while its statuses are written, is worked out again and not made again."""

from __future__ import annotations

import asyncio

from applier.desired import Desired, Gone, Graph, Hold
from applier.loop import View
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, config_map, loops_running, ref, some
from .test_writes_besides import looked_at, status, watch_deployments, world_with_a_deployment


def deletes_during_the_status(world: Lab, name: str) -> None:
    """Somebody deletes an object while a status is on its way, and the watch tells of it before the answer comes."""

    async def before(request: MemoryRequest) -> None:
        if request.subresource == "status" and ref(name) in world.cluster.store.objects:
            world.cluster.store.remove(ref(name))
            await asyncio.sleep(0.1)

    world.cluster.before = before


def kept(view: View, key: str) -> Graph | Gone | Hold:
    """One object as long as it exists, and another one always; the second is owned by the first."""
    there = view.get(ref("set-0"))
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "set-0"}
    first = [Desired(config_map("set-0", {"value": "1"}))] if there is not None else []
    second = Desired(config_map("set-1", {"value": "1"}, ownerReferences=[owner] if there else []), ref("set-0") if there else None)
    return Graph([*first, second], statuses=[status(view, 2 if there else 3)])


@in_virtual_time
async def test_an_object_that_was_there_is_not_made_from_a_state_that_is_over() -> None:
    world = world_with_a_deployment()
    async with loops_running(world):
        await watch_deployments(world)
        world.cluster.seed(config_map("set-0", {"value": "1"}), manager="them")
        await asyncio.sleep(1)
        deletes_during_the_status(world, "set-0")
        await looked_at(world, kept, 5)
        assert [(one.verb, one.name) for one in world.cluster.writes() if not one.subresource] == [("apply", "set-1")]
        assert world.made() == ["set-1"]
        assert world.errors == []


@in_virtual_time
async def test_an_object_that_is_wanted_all_the_same_is_made_after_the_next_look() -> None:
    world = world_with_a_deployment()
    world.cluster.seed(some("set", 1))
    looks, counts = list[bool](), [2]

    def wanted(view: View, key: str) -> Graph:
        looks.append(view.get(ref("set-0")) is not None)
        return Graph([Desired(config_map("set-0", {"value": "1"}))], statuses=[status(view, counts[-1])])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, wanted)
        deletes_during_the_status(world, "set-0")
        looks.clear()
        counts.append(3)
        world.loop.enqueue("set")
        await asyncio.sleep(5)
        assert looks[:2] == [True, False]
        assert world.made() == ["set-0"]
