"""What KAI is told of a gang whose topology loses a level and has it again: a server takes each step, and no pod goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.definitions import FREE, definition, serve

from .ownership import holders
from .test_topology import HOST, PODS, RACK, TAS, condition, placed, topology, without_topologies
from .world import LiveCluster

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

LEVELS = {name: {"type": "string"} for name in ("topology", "requiredTopologyLevel", "preferredTopologyLevel")}
SPEC = {**FREE, "properties": {"topologyConstraint": {"type": "object", "properties": LEVELS}}}
GROUP = definition(
    *("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups"),
    schema={"type": "object", "properties": {"spec": SPEC}},
    has_status=False,
)
"""KAI's definition as far as it matters: null is no constraint."""


@pytest.fixture
async def world(whole_cluster: LiveCluster) -> AsyncIterator[LiveCluster]:
    await without_topologies(whole_cluster)
    serve(whole_cluster.plane, [GROUP])
    yield whole_cluster
    await whole_cluster.stop()
    await whole_cluster.kubectl("delete", "crd", GROUP["metadata"]["name"])


async def constraint(world: LiveCluster) -> Any:
    group = await world.get("podgroups.scheduling.run.ai", "chat-0")
    return group and group["spec"].get("topologyConstraint", {})


async def test_a_gang_that_loses_its_level_has_no_constraint_until_it_is_back(world: LiveCluster) -> None:
    declared = placed()
    declared["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    scheduler = {"profiles": [{"name": "kai-scheduler", "default": True}, {"name": "default-scheduler"}]}
    await world.start(everywhere=True, config={**TAS, "scheduler": scheduler})
    await world.apply(topology(rack=RACK, host=HOST))
    await world.apply(declared)
    await world.until(lambda: constraint(world), {"topology": "lab", "requiredTopologyLevel": RACK})
    await world.until(world.hostnames, list(PODS))
    before = await world.names("pods")
    for levels, wanted, said in (
        ({"host": HOST}, {}, "True ClusterTopologyLevelsUnavailable"),
        ({"rack": RACK, "host": HOST}, {"topology": "lab", "requiredTopologyLevel": RACK}, "False AllClusterTopologyLevelsAvailable"),
    ):
        await world.apply(topology("lab", **levels))
        await world.until(lambda: condition(world), said)
        await world.until(lambda: constraint(world), wanted)
    assert await world.names("pods") == before
    assert await holders(world) == {"chat": False}
