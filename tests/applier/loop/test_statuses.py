"""Statuses of objects that are not what they were thought to be."""

from __future__ import annotations

from applier.desired import Graph
from applier.outcome import Action
from applier.testing.virtual_time import in_virtual_time

from .lab import loops_running
from .test_writes_besides import DEPLOYMENT, WEB, looked_at, status, watch_deployments, world_with_a_deployment


@in_virtual_time
async def test_a_status_of_an_object_that_was_made_anew_is_no_failure_and_is_worked_out_again() -> None:
    world = world_with_a_deployment()
    async with loops_running(world):
        await watch_deployments(world)
        world.cluster.stall_watches()
        world.cluster.store.remove(WEB)
        world.cluster.seed(DEPLOYMENT, manager="them")
        await looked_at(world, lambda view, key: Graph([], statuses=[status(view, 2)]))
        assert {one.action for result in world.results for one in result.outcomes} == {Action.HELD, Action.CONFIGURED}
        assert world.cluster.store.objects[WEB]["status"] == {"replicas": 2}
