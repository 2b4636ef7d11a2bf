"""What follows from a status that could not be written: nothing where the state has changed, and else what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from applier.desired import Deletion, Graph, ObjectReference
from applier.errors import Forbidden, ServerFailure, WriteConflict
from applier.loop import View
from applier.testing.virtual_time import in_virtual_time

from .lab import desired, loops_running, ref, some
from .test_writes_besides import live, looked_at, status, watch_deployments, world_with_a_deployment, writes

AWAY, CHANGED = ServerFailure(500, "InternalError", "etcd is away"), WriteConflict(409, "Conflict", "modified")


@pytest.mark.parametrize(("error", "follows"), [(AWAY, {"apply configmaps set-0"}), (CHANGED, set())])
@in_virtual_time
async def test_nothing_is_deleted_for_a_status_that_could_not_be_written_nor_applied_if_it_was_outdated(
    error: Any, follows: set[str]
) -> None:
    world = world_with_a_deployment()

    def scales_in(view: View, key: str) -> Graph:
        graph = desired(view, key)
        assert isinstance(graph, Graph)
        victim = Deletion(ObjectReference.of(live(view, ref("set-1"))), "scaled in") if view.get(ref("set-1")) else None
        return Graph(graph.objects.values(), statuses=[status(view, 1, versioned=True)], deletions=[victim] if victim else [])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, desired)
        world.cluster.fail(lambda request: request.subresource == "status", error, times=-1)
        world.cluster.seed(some("set", 2, "2"))
        await looked_at(world, scales_in, 10)
        assert {one for one in writes(world) if "status" not in one} == follows
        assert "is not deleted (scaled in), for Deployment.apps/default/web is" in world.told()


@in_virtual_time
async def test_nothing_is_created_without_a_status_that_is_decisive() -> None:
    world = world_with_a_deployment()

    def begins(view: View, key: str) -> Graph:
        graph = desired(view, key)
        assert isinstance(graph, Graph)
        return Graph(graph.objects.values(), statuses=[replace(status(view, 1, versioned=True), decisive=True)])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, desired)
        denied, is_denied = Forbidden(403, "Forbidden", "statuses are frozen"), [True]
        world.cluster.fail(lambda request: request.subresource == "status" and is_denied[0], denied, times=-1)
        world.cluster.seed(some("set", 2, "2"))
        await looked_at(world, begins, 10)
        assert {one for one in writes(world) if "status" not in one} == set()
        is_denied[0] = False
        await looked_at(world, begins)
        assert {one for one in writes(world) if "status" not in one} == {"apply configmaps set-0", "apply configmaps set-1"}
