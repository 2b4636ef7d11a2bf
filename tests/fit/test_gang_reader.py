"""Gangs as they are read from the objects of a graph."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.fit.gang import DomainKey, GangDemand
from grove_compiler.fit.gang_reader import read_gangs
from grove_compiler.graph.node import Manifest, Node
from tests.suite.rows import rows

RACK, HOST = "example.com/rack", "kubernetes.io/hostname"


def node(kind: str, name: str, spec: Manifest, **metadata: Any) -> Node:
    manifest = {"kind": kind, "metadata": {"name": name, "namespace": "ml", **metadata}, "spec": spec}
    return Node(f"{kind}/ml/{name}", manifest, "rule", (), None, {})


def clique(name: str, replicas: int = 2, spec: Manifest | None = None, labels: dict[str, str] | None = None) -> Node:
    return node("PodClique", name, {"replicas": replicas, "podSpec": spec or {}}, labels=labels or {})


def pack(**keys: str) -> Manifest:
    return {"topologyConstraint": {"packConstraint": keys}}


def podgang(name: str, *groups: Manifest, spec: Manifest | None = None, **metadata: Any) -> Node:
    return node("PodGang", name, {"podgroups": list(groups), **(spec or {})}, **metadata)


def group(name: str, minimum: int = 1, **more: Any) -> Manifest:
    return {"name": name, "minReplicas": minimum, **more}


def only(*nodes: Node) -> GangDemand:
    (gang,) = read_gangs(nodes)
    return gang


def test_a_podgroup_has_the_minimum_of_the_gang_and_the_size_and_pods_of_its_clique() -> None:
    spec = {"containers": [{"name": "x"}]}
    gang = only(clique("web", 5, spec), podgang("demo-0", group("web", 3)))
    (web,) = gang.scope.podgroups
    assert (web.minimum, web.replicas, web.pod_spec, gang.pods) == (3, 5, spec, 3)


def test_a_gang_knows_its_set_and_replica() -> None:
    labels = {"grove.io/podcliqueset-replica-index": "4"}
    gang = only(clique("web", labels=labels), podgang("demo-4", group("web"), labels={"app.kubernetes.io/part-of": "demo"}))
    assert (gang.namespace, gang.name, gang.set_name, gang.replica, gang.scaled) == ("ml", "demo-4", "demo", 4, False)


def test_base_gangs_come_before_scaled_ones_and_keep_their_order() -> None:
    scaled = {"grove.io/base-podgang": "x"}
    cliques = [clique("a"), clique("b", labels=scaled), clique("c"), clique("d", labels=scaled)]
    gangs = read_gangs([*cliques, *(podgang(f"gang-{name}", group(name)) for name in "abcd")])
    assert [gang.name for gang in gangs] == ["gang-a", "gang-c", "gang-b", "gang-d"]


def test_constraints_are_read_at_every_level() -> None:
    config = {"name": "g-0", "podGroupNames": ["b", "a"], **pack(required=RACK)}
    spec = {**pack(required="zone", preferred=RACK), "topologyConstraintGroupConfigs": [config]}
    gang = only(*map(clique, "abc"), podgang("demo-0", group("a", **pack(required=HOST)), group("b"), group("c"), spec=spec))
    root = gang.scope
    inner, loose = root.scopes
    assert (root.required, root.preferred) == (DomainKey(("zone",), ("zone",)), DomainKey((RACK,), (RACK,)))
    assert (inner.level, inner.name, inner.required) == ("group", "g-0", DomainKey((RACK,), (RACK,)))
    assert [scope.name for scope in inner.scopes] == ["b", "a"]
    assert inner.scopes[1].required == DomainKey((HOST,), (HOST,))
    assert (loose.name, loose.required) == ("c", None)


def test_within_a_topology_a_domain_is_told_by_the_labels_from_its_top() -> None:
    topology = node("Topology", "topo", {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": RACK}, {"nodeLabel": HOST}]})
    gang = only(topology, clique("a"), podgang("g", group("a"), spec=pack(required=RACK), annotations={"grove.io/topology-name": "topo"}))
    assert gang.scope.required == DomainKey(("zone", RACK), ("zone", RACK, HOST))


def test_a_topology_that_the_gang_does_not_name_says_nothing() -> None:
    topology = node("Topology", "topo", {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": RACK}]})
    gang = only(topology, clique("a"), podgang("g", group("a"), spec=pack(required=RACK)))
    assert gang.scope.required == DomainKey((RACK,), (RACK,))


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@rows(
    ("spec", "unchecked"),
    [
        ({}, []),
        ({"affinity": {"podAffinity": {REQUIRED: [{}]}}}, ["required podAffinity"]),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{}]}}}, ["required podAntiAffinity"]),
        ({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}}, []),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}, ["topologySpreadConstraints"]),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, []),
        ({"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "y"}]}, ["the devices of the resource claim x"]),
    ],
)
def test_what_placement_does_not_look_at_is_told(spec: Manifest, unchecked: list[str]) -> None:
    assert only(clique("a", spec=spec), podgang("g", group("a"))).unchecked == unchecked


def exactly(name: str) -> Manifest:
    return {"devices": {"requests": [{"name": "channel", "exactly": {"deviceClassName": name}}]}}


CLASS = "compute-domain-default-channel.nvidia.com"


@pytest.mark.parametrize(
    "channel",
    [
        node("ComputeDomain", "cd", {"channel": {"resourceClaimTemplate": {"name": "mnnvl"}}}),
        node("ResourceClaimTemplate", "mnnvl", {"spec": exactly(CLASS)}),
        node("ResourceClaim", "mnnvl", exactly(CLASS)),
        node("ResourceClaim", "mnnvl", exactly("a-class-of-your-own"), labels={"app.kubernetes.io/component": "mnnvl-claim"}),
        node("ResourceClaim", "mnnvl", {"devices": {"requests": [{"name": "channel", "deviceClassName": CLASS}]}}),
    ],
)
def test_a_channel_of_a_compute_domain_needs_nothing_of_a_node(channel: Node) -> None:
    spec = {"resourceClaims": [{"name": "mnnvl", "resourceClaimTemplateName": "mnnvl"}]}
    assert only(channel, clique("a", spec=spec), podgang("g", group("a"))).unchecked == []


def test_a_claim_for_other_devices_is_not_checked() -> None:
    spec = {"resourceClaims": [{"name": "gpus", "resourceClaimName": "gpus"}]}
    claim = node("ResourceClaim", "gpus", exactly("gpu.nvidia.com"))
    assert only(claim, clique("a", spec=spec), podgang("g", group("a"))).unchecked == ["the devices of the resource claim gpus"]


def test_persistent_volumes_are_an_assumption() -> None:
    spec = {"volumes": [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]}
    assert only(clique("a", spec=spec), podgang("g", group("a"))).assumed == ["persistent volumes can be reached from every node"]


def test_a_podgroup_without_a_clique_is_not_checked() -> None:
    assert only(podgang("g", group("gone"))).unchecked == ["the pods of gone, which has no PodClique"]


def test_a_podgroup_in_two_group_configs_is_not_checked_for_the_second() -> None:
    configs = [{"name": name, "podGroupNames": ["a"], **pack(required=RACK)} for name in ("first", "second")]
    gang = only(clique("a"), podgang("g", group("a"), spec={"topologyConstraintGroupConfigs": configs}))
    assert [scope.name for scope in gang.scope.scopes] == ["first"]
    assert gang.unchecked == ["the group config second, whose podgroups are unknown or in another one, too"]


def test_pods_whose_requests_cannot_be_read_are_not_checked() -> None:
    spec = {"containers": [{"name": "x", "resources": {"requests": {"memory": "8GB"}}}]}
    (unchecked,) = only(clique("a", spec=spec), podgang("g", group("a"))).unchecked
    assert unchecked.startswith('the requests of the pods of a (memory: "8GB" has the unknown suffix')
