"""Objects that users write, of each kind and in each way: we guard and follow them, and take no field of theirs over.

Of a topology only its finalizer is ours, of a set its status; whoever has written the rest may write it again without a conflict.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from applier.ref import Manifest
from tests.go_programs import find

from .test_topology import RACK, TAS, labels, metadata, topology, without_topologies
from .world import LiveCluster, clique, pod_clique_set
from .writers import WAYS, Way, helm

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

OLD, NEW = "old", "new"
LABEL = "example.com/team"


def with_helm() -> dict[str, Way]:
    program, _ = find("helm")
    return {**WAYS, **({"helm": helm(program)} if program else {})}


def of_topology(kind: str, name: str, value: str) -> Manifest:
    return topology(name, kind, rack=RACK, host=f"example.com/{value}")


def of_set(name: str, value: str) -> Manifest:
    front = clique("front")
    return pod_clique_set({**front, "labels": {LABEL: value}}, name=name, replicas=1)


def written(way: str, value: str) -> dict[str, Manifest]:
    """What is written in a way, by kind: to the name of a topology KAI's has to be free."""
    return {
        "ClusterTopology": of_topology("ClusterTopology", f"topology-{way}", value),
        "ClusterTopologyBinding": of_topology("ClusterTopologyBinding", f"binding-{way}", value),
        "PodCliqueSet": of_set(way, value),
    }


@pytest.fixture
async def world(whole_cluster: LiveCluster) -> LiveCluster:
    return await without_topologies(whole_cluster)


async def test_what_people_write_is_guarded_and_followed_and_theirs_in_whichever_way(world: LiveCluster, tmp_path: Path) -> None:
    ways = with_helm()
    for name, way in ways.items():
        for one in written(name, OLD).values():
            await way.make(world, one, tmp_path)
    await world.start(everywhere=True, config=TAS)
    await until_followed(world, ways, OLD)
    for name, way in ways.items():
        for one in written(name, NEW).values():
            await way.change(world, one, tmp_path)
    await until_followed(world, ways, NEW)
    for name in ways:
        for kind, one in written(name, NEW).items():
            assert await ours(world, one) == OURS[kind], (name, kind)
    assert world.troubles() == []
    for kind in reversed(OURS):
        names = [written(way, NEW)[kind]["metadata"]["name"] for way in ways]
        await world.kubectl("delete", f"{kind.lower()}.grove.io", *names, "--timeout=60s")


async def until_followed(world: LiveCluster, ways: dict[str, Way], value: str) -> None:
    """Returns once each topology has our finalizer and KAI's its levels, and each set's PodClique its labels."""
    wanted = f"{RACK} example.com/{value}"
    for way in ways:
        await world.until(partial(labels, world, f"topology-{way}"), wanted)
        guards = partial(metadata, world, "clustertopologies.grove.io", f"topology-{way}", "finalizers")
        await world.until(guards, ["grove.io/clustertopology.grove.io"])
        await world.until(partial(labels, world, f"binding-{way}"), wanted)
        await world.until(partial(label_of_clique, world, way), value)
    await world.at_rest()


async def label_of_clique(world: LiveCluster, name: str) -> str | None:
    return ((await metadata(world, "podclique", f"{name}-0-front", "labels")) or {}).get(LABEL)


OURS = {"ClusterTopology": {"f:metadata.f:finalizers"}, "ClusterTopologyBinding": {"f:status"}, "PodCliqueSet": {"f:status"}}
"""The fields that the operator has in an object of each kind: of a status all."""


async def ours(world: LiveCluster, one: Manifest) -> set[str]:
    live = await world.get(f"{one['kind'].lower()}.grove.io", one["metadata"]["name"])
    entries = [each["fieldsV1"] for each in live["metadata"]["managedFields"] if each["manager"].startswith("grove")]
    fields = {(top, field) for each in entries for top, below in each.items() for field in below}
    return {top if top == "f:status" else f"{top}.{field}" for top, field in fields}
