"""What KAI is told of gangs: a server with its definitions takes each step, and no pod goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from applier.ref import Manifest

from .kai import GROUPS, POD_GROUPS, SCHEDULER, WITHOUT_GRACE, bind, evict, serve_pod_groups
from .ownership import holders
from .test_topology import HOST, PODS, RACK, TAS, condition, placed, topology, without_topologies
from .test_training_disruptions import RANKS, job
from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, is_ready

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

QUEUE = {"kai.scheduler/queue": "team"}


@pytest.fixture
async def world(whole_cluster: LiveCluster) -> AsyncIterator[LiveCluster]:
    """A cluster without KAI's PodGroups yet."""
    yield await without_topologies(whole_cluster)
    await whole_cluster.stop()
    await whole_cluster.kubectl("delete", "crd", GROUPS)


def is_ungated(pod: Manifest) -> bool:
    return not pod["spec"].get("schedulingGates")


async def grace(world: LiveCluster) -> Any:
    return (await world.get(GROUPS, "chat-0"))["spec"].get("stalenessGracePeriod")


async def constraint(world: LiveCluster) -> Any:
    group = await world.get(GROUPS, "chat-0")
    return group and group["spec"].get("topologyConstraint", {})


async def test_a_gang_that_loses_its_level_has_no_constraint_until_it_is_back(world: LiveCluster) -> None:
    await serve_pod_groups(world)
    declared = placed()
    declared["metadata"]["labels"] = QUEUE
    await world.start(everywhere=True, config={**TAS, "scheduler": SCHEDULER})
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


async def test_a_job_runs_with_a_kai_that_knows_no_grace_period_and_gets_one_from_the_next_release(world: LiveCluster) -> None:
    await serve_pod_groups(world, WITHOUT_GRACE)
    declared = job()
    declared["metadata"]["labels"] = QUEUE
    await world.start(everywhere=True, config={"scheduler": SCHEDULER})
    await world.apply(declared)
    await world.until(lambda: world.hostnames(is_ungated), list(RANKS))
    before = await world.names("pods")
    assert await grace(world) is None
    await world.stop()
    await serve_pod_groups(world, POD_GROUPS)
    await world.start(everywhere=True, config={"scheduler": SCHEDULER})
    await world.until(lambda: grace(world), "-1s")
    assert await world.names("pods") == before


async def test_what_kai_evicts_waits_in_its_group_while_the_rest_serves(world: LiveCluster) -> None:
    await serve_pod_groups(world)
    await world.start(everywhere=True, config={"scheduler": SCHEDULER})
    await world.apply({**SERVING, "metadata": {**SERVING["metadata"], "labels": QUEUE}})
    await world.until(lambda: world.hostnames(is_ungated), sorted((*FRONT, *BASE)))
    await bind(world, *FRONT, *BASE)
    await world.until(lambda: world.hostnames(is_ungated), sorted((*FRONT, *BASE, *SCALED)))
    await bind(world, *SCALED)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await memberships(world)
    await evict(world, "chat-0-model-0", *SCALED)
    await world.until(lambda: world.hostnames(is_ungated), sorted((*FRONT, *BASE, *SCALED)))
    await world.until(lambda: world.hostnames(is_ready), sorted((*FRONT, *BASE)))
    assert await memberships(world) == before
    await world.at_rest()
    group = await world.get(GROUPS, "chat-0-model-0")
    assert "kai.scheduler/last-eviction-timestamp" in group["metadata"]["annotations"]
    assert (group["metadata"]["generation"], group["spec"]["minMember"]) == (1, 3)


async def memberships(world: LiveCluster) -> dict[str, tuple[str, str]]:
    """The group and the subgroup of each pod."""
    pods = {pod["spec"]["hostname"]: pod["metadata"] for pod in await world.objects("pods") if not pod["metadata"].get("deletionTimestamp")}
    return {name: (of["annotations"]["pod-group-name"], of["labels"]["kai.scheduler/subgroup-name"]) for name, of in pods.items()}
