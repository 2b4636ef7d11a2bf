"""Topologies on a real API server: made, followed by KAI's, kept while they are in use, and told of by the sets that lost a level."""

from __future__ import annotations

import asyncio
import functools
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import RequestRefused
from tests.definitions import definition, serve
from tests.permitted import resources

from .world import LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

RACK, HOST, BLOCK = "example.com/rack", "kubernetes.io/hostname", "example.com/block"
PROFILES = {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]}
WITHOUT_RESOURCES = {"profiles": [{"name": "kai-scheduler", "config": {"createTopologyResources": False}}, {"name": "default-scheduler"}]}
TAS = {"scheduler": PROFILES, "topologyAwareScheduling": {"enabled": True}}


def levels(**keys: str) -> list[Manifest]:
    return [{"domain": domain, "key": key} for domain, key in keys.items()]


def tas(**keys: str) -> Manifest:
    """A configuration with a default topology."""
    return {**TAS, "topologyAwareScheduling": {"enabled": True, "levels": levels(**keys)}}


def topology(name: str = "lab", kind: str = "ClusterTopology", bindings: Any = None, **keys: str) -> Manifest:
    spec = {"levels": levels(**keys), **({"schedulerTopologyBindings": bindings} if bindings else {})}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def kai_topology(name: str, *labels: str) -> Manifest:
    spec = {"levels": [{"nodeLabel": label} for label in labels]}
    return {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": name}, "spec": spec}


LEVELS = {
    "type": "array",
    "items": {"type": "object", "properties": {"nodeLabel": {"type": "string"}}},
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
}
KAI_DEFINITION = definition(
    *("kai.scheduler", "v1alpha1", "Topology", "topologies", "Cluster"),
    schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {"levels": LEVELS}}}},
    has_status=False,
)
"""KAI's definition as far as it matters: levels cannot change."""
UNGUARDED = '{"metadata":{"finalizers":[]}}'


@pytest.fixture
async def world(whole_cluster: LiveCluster) -> LiveCluster:
    """A cluster with KAI's kind, and without any topology."""
    return await without_topologies(whole_cluster)


async def without_topologies(whole_cluster: LiveCluster) -> LiveCluster:
    """The cluster, once it has KAI's kind and no topology."""
    await asyncio.to_thread(_without_topologies, whole_cluster.plane)
    return whole_cluster


def _without_topologies(plane: ControlPlane) -> None:
    _with_kais_kind(plane)
    objects = plane.objects
    for one in objects.get("clustertopologies.grove.io,clustertopologybindings.grove.io,topologies.kai.scheduler")["items"]:
        path = objects.kind_of(one).path(name=one["metadata"]["name"])
        with suppress(RequestRefused):  # the garbage collector may be quicker: it takes KAI's topology when the one that owns it goes
            plane.request("PATCH", path, {"metadata": {"finalizers": []}}, content_type="application/merge-patch+json")
            plane.request("DELETE", path)


@functools.cache
def _with_kais_kind(plane: ControlPlane) -> None:
    serve(plane, [KAI_DEFINITION])


async def metadata(world: LiveCluster, kind: str, name: str, key: str) -> Any:
    """A part of an object's metadata; nothing without the object."""
    found = await world.get(kind, name)
    return found and found["metadata"].get(key)


async def level_fields(world: LiveCluster, kind: str, name: str, key: str) -> str:
    """What the levels of a topology say under a key; empty without the topology."""
    found = await world.get(kind, name)
    return " ".join(level.get(key, "") for level in found["spec"]["levels"]) if found else ""


async def keys(world: LiveCluster, name: str = "lab", kind: str = "clustertopologies.grove.io") -> str:
    return await level_fields(world, kind, name, "key")


async def labels(world: LiveCluster, name: str = "lab") -> str:
    return await level_fields(world, "topologies.kai.scheduler", name, "nodeLabel")


async def topologies(world: LiveCluster) -> list[str]:
    found = (await world.get("clustertopologies.grove.io,topologies.kai.scheduler"))["items"]
    return [f"{one['kind'].lower()}.{one['apiVersion'].partition('/')[0]}/{one['metadata']['name']}" for one in found]


async def condition(world: LiveCluster) -> str:
    """What the set says of its levels."""
    [one] = await world.objects("sets")
    found = [one for one in one.get("status", {}).get("conditions", []) if one["type"] == "TopologyLevelsUnavailable"]
    return " ".join(f"{one['status']} {one['reason']}" for one in found)


async def constraint(world: LiveCluster) -> list[Any]:
    """By which topology the gang is placed, and where."""
    gangs = await world.objects("gangs")
    if not gangs:
        return []
    [gang] = gangs
    name = gang["metadata"].get("annotations", {}).get("grove.io/topology-name", "")
    return [name, gang["spec"].get("topologyConstraint", {}).get("packConstraint", {}).get("required", "")]


async def events(world: LiveCluster, kind: str, reason: str, name: str = "") -> list[str]:
    chosen = f"involvedObject.kind={kind},reason={reason}" + (f",involvedObject.name={name}" if name else "")
    found = await asyncio.to_thread(world.plane.objects.get, "events", "-n", "default", "--field-selector", chosen)
    return [one["message"] for one in found["items"]]


def placed(domain: str = "rack", *, name: str = "lab", cpu: str = "10m") -> Manifest:
    declared = pod_clique_set(clique("front", 2), clusterTopologyName=name, topologyConstraint={"packDomain": domain})
    declared["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"] = resources(cpu)
    return declared


PODS = ("chat-0-front-0", "chat-0-front-1")


async def test_the_configuration_is_the_default_topology_as_long_as_it_says_so(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=tas(rack=RACK, host=HOST))
    await world.until(lambda: labels(world, "grove-topology"), f"{RACK} {HOST}")
    finalizers = await metadata(world, "clustertopologies.grove.io", "grove-topology", "finalizers")
    assert finalizers == ["grove.io/clustertopology.grove.io"]
    owners = await metadata(world, "topologies.kai.scheduler", "grove-topology", "ownerReferences")
    assert [owner["kind"] for owner in owners] == ["ClusterTopology"]
    await world.stop()
    await world.start(everywhere=True, config=tas(block=BLOCK, host=HOST))
    await world.until(lambda: keys(world, "grove-topology"), f"{BLOCK} {HOST}")
    await world.until(lambda: labels(world, "grove-topology"), f"{BLOCK} {HOST}")
    await world.stop()
    await world.start(everywhere=True, config={"scheduler": PROFILES})
    await world.until(lambda: topologies(world), [])


async def test_a_default_topology_that_somebody_edits_or_deletes_comes_back(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=tas(rack=RACK, host=HOST))
    await world.until(lambda: labels(world, "grove-topology"), f"{RACK} {HOST}")
    await world.apply(topology("grove-topology", block=BLOCK))
    await world.until(lambda: keys(world, "grove-topology"), f"{RACK} {HOST}")
    await world.kubectl("delete", "clustertopologies.grove.io", "grove-topology", "--wait=false")
    await world.until(lambda: metadata(world, "clustertopologies.grove.io", "grove-topology", "deletionTimestamp"), None)
    await world.until(lambda: labels(world, "grove-topology"), f"{RACK} {HOST}")


async def test_one_of_somebody_else_with_its_name_and_our_label_is_guarded_and_stays(world: LiveCluster) -> None:
    theirs = topology("grove-topology", rack=RACK, host=HOST)
    theirs["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "grove-operator"}
    await world.kubectl("apply", "-f", "-", input=theirs)
    uid = await metadata(world, "clustertopologies.grove.io", "grove-topology", "uid")
    for config in (TAS, {"scheduler": PROFILES}):
        await world.kubectl("patch", "clustertopologies.grove.io", "grove-topology", "--type=merge", "-p", UNGUARDED)
        await world.start(everywhere=True, config=config)
        guarded = partial(metadata, world, "clustertopologies.grove.io", "grove-topology", "finalizers")
        await world.until(guarded, ["grove.io/clustertopology.grove.io"])
        await world.at_rest()
        assert await metadata(world, "clustertopologies.grove.io", "grove-topology", "uid") == uid
        await world.stop()


async def test_the_default_topology_that_a_set_refers_to_is_kept_until_the_set_goes(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=tas(rack=RACK, host=HOST))
    await world.until(lambda: labels(world, "grove-topology"), f"{RACK} {HOST}")
    uid = await metadata(world, "clustertopologies.grove.io", "grove-topology", "uid")
    await world.apply(placed(name="grove-topology"))
    await world.until_ready(*PODS)
    await world.kubectl("delete", "clustertopologies.grove.io", "grove-topology", "--wait=false")
    why = f"Deletion waits until no PodCliqueSet refers to it: {world.namespace}/chat"
    await world.until(lambda: told(world, why), True)
    assert await metadata(world, "clustertopologies.grove.io", "grove-topology", "uid") == uid
    await world.kubectl("delete", "podcliqueset", "chat")
    await world.until(lambda: is_another(world, uid), True)


async def is_another(world: LiveCluster, uid: str) -> bool:
    return await metadata(world, "clustertopologies.grove.io", "grove-topology", "uid") not in (None, uid)


async def test_kais_topology_follows_the_levels_of_ours(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: labels(world), f"{RACK} {HOST}")
    before = await metadata(world, "topologies.kai.scheduler", "lab", "uid")
    await world.apply(topology(block=BLOCK, rack=RACK, host=HOST))
    await world.until(lambda: labels(world), f"{BLOCK} {RACK} {HOST}")
    assert await metadata(world, "topologies.kai.scheduler", "lab", "uid") != before
    await world.kubectl("delete", "topologies.kai.scheduler", "lab", "--wait=false")
    await world.until(lambda: labels(world), f"{BLOCK} {RACK} {HOST}")


async def test_a_kai_topology_of_somebody_else_keeps_its_levels_and_no_topology_from_going(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: labels(world), f"{RACK} {HOST}")
    await world.stop()
    await world.kubectl("delete", "topologies.kai.scheduler", "lab")
    await world.apply(kai_topology("lab", BLOCK))
    await world.start(everywhere=True, config=TAS)
    await world.until(lambda: is_told(world, "KAI already has a Topology of this name"), True)
    await world.kubectl("delete", "clustertopologies.grove.io", "lab", "--timeout=60s")
    assert await labels(world) == BLOCK


async def test_a_topology_follows_once_a_kai_topology_of_somebody_else_is_gone(world: LiveCluster) -> None:
    await world.apply(kai_topology("lab", BLOCK))
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: is_told(world, "KAI already has a Topology of this name"), True)
    await world.kubectl("delete", "topologies.kai.scheduler", "lab")
    await world.until(lambda: labels(world), f"{RACK} {HOST}")


async def is_told(world: LiveCluster, words: str) -> bool:
    return any(words in message for message in await events(world, "ClusterTopology", "Held"))


async def test_a_topology_that_a_set_refers_to_is_kept_until_the_set_goes(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.apply(placed())
    await world.until_ready(*PODS)
    await world.kubectl("delete", "clustertopologies.grove.io", "lab", "--wait=false")
    why = f"Deletion waits until no PodCliqueSet refers to it: {world.namespace}/chat"
    await world.until(lambda: told(world, why), True)
    assert await labels(world) == f"{RACK} {HOST}"
    await world.kubectl("delete", "podcliqueset", "chat")
    await world.until(lambda: topologies(world), [])


async def told(world: LiveCluster, message: str) -> bool:
    return message in await events(world, "ClusterTopology", "TopologyInUse")


async def test_a_topology_that_no_set_refers_to_goes_at_once_and_kais_with_it(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: labels(world), f"{RACK} {HOST}")
    await world.kubectl("delete", "clustertopologies.grove.io", "lab", "--wait=false")
    await world.until(lambda: topologies(world), [])


async def test_a_set_that_loses_a_level_says_so_until_it_is_back(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.apply(placed())
    await world.until_ready(*PODS)
    await world.until(lambda: condition(world), "False AllClusterTopologyLevelsAvailable")
    assert await constraint(world) == ["lab", RACK]
    before = await world.names("pods")
    await world.apply(topology(host=HOST))
    await world.until(lambda: condition(world), "True ClusterTopologyLevelsUnavailable")
    await world.until(lambda: constraint(world), ["", ""])
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: condition(world), "False AllClusterTopologyLevelsAvailable")
    await world.until(lambda: constraint(world), ["lab", RACK])
    assert await world.names("pods") == before


async def test_a_set_whose_topology_is_gone_says_so_and_keeps_its_pods(world: LiveCluster) -> None:
    """Somebody has taken its finalizer off: then nothing holds it."""
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.apply(placed())
    await world.until_ready(*PODS)
    before = await world.names("pods")
    await world.stop()
    await world.kubectl("patch", "clustertopologies.grove.io", "lab", "--type=merge", "-p", UNGUARDED)
    await world.kubectl("delete", "clustertopologies.grove.io", "lab")
    await world.start(everywhere=True, config=TAS)
    await world.until(lambda: condition(world), "Unknown ClusterTopologyNotFound")
    await world.until(lambda: constraint(world), ["", ""])
    await world.at_rest()
    assert await world.names("pods") == before
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: condition(world), "False AllClusterTopologyLevelsAvailable")
    await world.until(lambda: constraint(world), ["lab", RACK])
    assert await world.names("pods") == before


async def test_a_set_may_try_another_topology_while_nothing_of_it_is_placed(world: LiveCluster) -> None:
    """GREP-244, Story 5."""
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.apply(topology("other", rack=BLOCK, host=HOST))
    await world.apply(placed(cpu="1000"))
    await world.until(lambda: constraint(world), ["lab", RACK])
    await world.until(world.hostnames, list(PODS))
    before = await world.names("pods")
    await world.apply(placed(cpu="1000", name="other"))
    await world.until(lambda: constraint(world), ["other", BLOCK])
    assert await world.names("pods") == before
    await world.kubectl("delete", "clustertopologies.grove.io", "lab")
    await world.until(lambda: condition(world), "False AllClusterTopologyLevelsAvailable")


async def drift(world: LiveCluster) -> str:
    binding = await world.get("clustertopologybindings.grove.io", "lab")
    conditions = (binding or {}).get("status", {}).get("conditions", [])
    return "".join(one["status"] for one in conditions if one["type"] == "SchedulerTopologyDrift")


async def test_a_binding_says_when_somebody_elses_kai_topology_drifts_and_when_it_is_back(world: LiveCluster) -> None:
    theirs = [{"schedulerName": "kai-scheduler", "topologyReference": "theirs"}]
    await world.apply(kai_topology("theirs", RACK, HOST))
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology("lab", "ClusterTopologyBinding", theirs, rack=RACK, host=HOST))
    await world.until(lambda: drift(world), "False")
    await world.kubectl("delete", "topologies.kai.scheduler", "theirs")
    await world.until(lambda: drift(world), "True")
    await world.apply(kai_topology("theirs", BLOCK, HOST))
    why = "kai-scheduler uses different levels: "
    missing = f'{why}KAI Topology "theirs" not found'
    await world.until(lambda: events(world, "ClusterTopologyBinding", "TopologyDriftDetected", "lab"), [missing])
    await world.apply(topology("lab", "ClusterTopologyBinding", theirs, block=BLOCK, host=HOST))
    await world.until(lambda: drift(world), "False")
    assert await topologies(world) == ["topology.kai.scheduler/theirs"]


async def test_kais_topology_goes_when_a_binding_names_one_of_somebody_elses(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology("lab", "ClusterTopologyBinding", rack=RACK))
    await world.until(lambda: labels(world), RACK)
    await world.apply(kai_topology("theirs", RACK))
    theirs = [{"schedulerName": "kai-scheduler", "topologyReference": "theirs"}]
    await world.apply(topology("lab", "ClusterTopologyBinding", theirs, rack=RACK))
    await world.until(lambda: topologies(world), ["topology.kai.scheduler/theirs"])
    await world.until(lambda: drift(world), "False")


async def test_kais_topology_stays_as_it_is_when_the_configuration_no_longer_makes_any(world: LiveCluster) -> None:
    await world.start(everywhere=True, config=TAS)
    await world.apply(topology(rack=RACK, host=HOST))
    await world.until(lambda: labels(world), f"{RACK} {HOST}")
    uid = await metadata(world, "topologies.kai.scheduler", "lab", "uid")
    await world.stop()
    await world.start(everywhere=True, config={**TAS, "scheduler": WITHOUT_RESOURCES})
    await world.apply(topology(block=BLOCK))
    await world.apply(topology("other", block=BLOCK))
    finalizers = ["grove.io/clustertopology.grove.io"]
    await world.until(lambda: metadata(world, "clustertopologies.grove.io", "other", "finalizers"), finalizers)
    assert (await metadata(world, "topologies.kai.scheduler", "lab", "uid"), await labels(world)) == (uid, f"{RACK} {HOST}")
    assert await labels(world, "other") == ""
    await world.kubectl("delete", "clustertopologies.grove.io", "lab")
    await world.until(lambda: labels(world), "")


async def test_an_operator_of_one_namespace_leaves_topologies_alone(world: LiveCluster) -> None:
    """It sees no sets elsewhere, so that it cannot know what is in use."""
    await world.apply(topology("lab", rack=RACK))
    await world.start(config=tas(rack=RACK))
    await world.apply(placed())
    await world.until_ready(*PODS)
    assert await topologies(world) == ["clustertopology.grove.io/lab"]
    assert await metadata(world, "clustertopologies.grove.io", "lab", "finalizers") is None
