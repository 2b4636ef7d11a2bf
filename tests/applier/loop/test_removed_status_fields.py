"""Fields of a status that have to go: also those that somebody else has written, which an apply leaves."""

from __future__ import annotations

from applier.desired import Graph, ObjectReference, StatusWrite
from applier.loop import View
from applier.ref import Manifest
from applier.testing.virtual_time import in_virtual_time

from .lab import loops_running
from .test_writes_besides import DEPLOYMENT, WEB, live, looked_at, watch_deployments, world_with_a_deployment, writes


def without_ready_replicas(view: View, key: str) -> Graph:
    of = ObjectReference.of(live(view))
    return Graph([], statuses=[StatusWrite(of, {"replicas": 2}, removes=("readyReplicas", "observedGeneration"))])


@in_virtual_time
async def test_a_field_of_somebody_else_s_is_removed_once_where_it_has_to_go() -> None:
    world = world_with_a_deployment()
    async with loops_running(world):
        await watch_deployments(world)
        resource = world.cluster.kinds.get(ObjectReference.of(DEPLOYMENT).kind)
        theirs: Manifest = {**DEPLOYMENT, "status": {"readyReplicas": 1, "unavailableReplicas": 4}}
        del theirs["spec"]
        await world.cluster.apply(resource, theirs, manager="them", subresource="status")
        await looked_at(world, without_ready_replicas)
        assert writes(world) == ["apply deployments web status", "patch deployments web status"]
        assert world.cluster.store.objects[WEB]["status"] == {"replicas": 2, "unavailableReplicas": 4}
        await looked_at(world, without_ready_replicas)
        assert world.cluster.log == []
