"""Topologies: levels, names, and which of them are made, wanted and in use."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.expanded.topology import ExpandedTopology, TopologyDecisions, default_topology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.topology import BINDING, CLUSTER_TOPOLOGY, DOMAINS, find_topology
from tests.suite.rows import rows

from ..shipped import decisions
from .sets import clique, existing, pcs
from .topologies import binding, levels, manifest_of, together, topology

GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
LABELLED = {"labels": {"app.kubernetes.io/managed-by": "grove-operator"}}
MADE_BY_US = {"manager": "grove-operator", "operation": "Apply", "fieldsV1": {"f:spec": {"f:levels": {}}}}
MANAGED = {**LABELLED, "managedFields": [MADE_BY_US]}
ON = Configuration({"topologyAwareScheduling": {"enabled": True}})
OFF = Configuration({})


def topology_is_desired(found: ExpandedTopology, config: Configuration) -> bool:
    return decisions().of(TopologyDecisions).topology_is_desired(found, config)


def test_a_domain_has_a_node_label() -> None:
    lab = topology("lab", "zone", "rack", "host")
    assert [lab.key_of(domain) for domain in ("zone", "host", "block", None)] == ["key/zone", "key/host", None, None]


def test_what_a_topology_lacks_is_named_once() -> None:
    assert topology("lab", "zone").lacks(["rack", "zone", "host", "rack"]) == ["rack", "host"]


@given(st.lists(st.sampled_from(DOMAINS), unique=True, min_size=1))
def test_the_levels_of_the_configuration_are_put_in_the_order_of_network_distance(domains: list[str]) -> None:
    found = default_topology(levels(*domains), Snapshot())
    assert found.domains == [domain for domain in DOMAINS if domain in domains]
    assert found.keys == [f"key/{domain}" for domain in found.domains]
    assert (found.name, found.kind, found.is_default) == ("grove-topology", CLUSTER_TOPOLOGY, True)


@given(st.lists(st.sampled_from(DOMAINS), unique=True))
def test_a_level_is_misplaced_when_a_narrower_one_stands_before_it(domains: list[str]) -> None:
    expected = [one for number, one in enumerate(domains) if any(DOMAINS.index(above) > DOMAINS.index(one) for above in domains[:number])]
    assert [level.domain for level in topology("lab", *domains).misplaced] == expected


def test_words_that_the_design_does_not_know_are_nowhere_misplaced() -> None:
    assert topology("lab", "shelf", "host", "wing").misplaced == []


KINDS = [
    (CLUSTER_TOPOLOGY, [topology("a"), binding("a")], 0),
    (BINDING, [topology("a"), binding("a")], 1),
    (BINDING, [topology("a"), binding("b")], 0),
    (CLUSTER_TOPOLOGY, [topology("b"), binding("a")], 1),
    (CLUSTER_TOPOLOGY, [topology("b"), binding("c")], None),
]


@pytest.mark.parametrize(("kind", "known", "place"), KINDS)
def test_a_name_means_a_topology_of_its_own_kind_first(kind: str, known: list[ExpandedTopology], place: int | None) -> None:
    assert find_topology(known, "a", kind) is (None if place is None else known[place])


class TestKaisNames:
    def test_a_topology_of_somebody_else_has_the_name_that_it_was_given(self) -> None:
        assert [binding("lab").kai_name, binding("lab", external="theirs").kai_name] == ["lab", "theirs"]

    def test_topologies_of_one_name_are_counterparts(self) -> None:
        one, other, third = together(topology("lab"), binding("lab"), binding("hall"))
        assert [one.counterpart, other.counterpart, third.counterpart] == [other, one, None]
        assert [one.is_served_by_counterpart, other.is_served_by_counterpart] == [False, True]

    def test_one_whose_topology_is_external_has_no_counterpart(self) -> None:
        one, other = together(topology("lab"), binding("lab", external="theirs"))
        assert [one.counterpart, other.counterpart] == [None, None]

    OWNERS: tuple[tuple[Any, bool], ...] = (
        (None, True),
        ({"kind": "ClusterTopology", "name": "lab"}, False),
        ({"kind": "ClusterTopologyBinding", "name": "lab"}, False),
        ({"kind": "ClusterTopology", "name": "hall"}, True),
        ({"kind": "Deployment", "name": "lab"}, True),
    )

    @pytest.mark.parametrize(("owner", "foreign"), OWNERS)
    def test_a_topology_of_kais_is_foreign_unless_ours_owns_it(self, owner: Any, foreign: bool) -> None:
        references = [{**owner, "controller": True}] if owner else []
        live = {"apiVersion": "kai.scheduler/v1", "kind": "Topology", "metadata": {"name": "lab", "ownerReferences": references}}
        assert (topology("lab", snapshot=[live]).foreign_kai_topology is live) is foreign
        assert topology("hall", snapshot=[live]).foreign_kai_topology is None


def user(name: str, **template: Any) -> PodCliqueSet:
    return PodCliqueSet(pcs([clique("a")], metadata={"name": name}, **template))


RACK = {"topologyConstraint": {"packDomain": "rack"}}


class TestUse:
    def test_sets_refer_to_a_topology_by_either_name_or_by_none(self) -> None:
        default, lab = together(topology("grove-topology"), topology("lab"))
        sets = [
            user("b", clusterTopologyName="lab", **RACK),
            user("a", topologyConstraint={"topologyName": "lab", "pack": {"required": "rack"}}),
            user("c", **RACK),
            user("d"),
        ]
        for one in (default, lab):
            one.find_sets = lambda: sets
        assert [use.set_name for use in lab.uses] == ["default/a", "default/b"]
        assert [use.set_name for use in default.uses] == ["default/c"]

    def test_a_set_that_means_the_other_kind_of_that_name_does_not_use_it(self) -> None:
        lab, _ = together(topology("lab"), binding("lab"))
        lab.find_sets = lambda: [user("a", topologyConstraint={"topologyName": "lab", "pack": {"required": "rack"}})]
        assert lab.uses == []

    def test_pods_count_for_the_set_that_they_are_part_of(self) -> None:
        cliques = [scheduled("a", "default", 2), scheduled("a", "default", 1), scheduled("a", "other", 4), scheduled("b", "default", 0)]
        lab = topology("lab", snapshot=cliques)
        lab.find_sets = lambda: [user("a", clusterTopologyName="lab", **RACK), user("b", clusterTopologyName="lab", **RACK)]
        assert [(use.set_name, use.scheduled) for use in lab.uses] == [("default/a", 3), ("default/b", 0)]

    def test_a_set_of_the_input_that_exists_is_one_user(self) -> None:
        lab = topology("lab")
        lab.find_sets = lambda: 2 * [user("a", clusterTopologyName="lab", **RACK)]
        assert [use.set_name for use in lab.uses] == ["default/a"]


def scheduled(part_of: str, namespace: str, count: int) -> dict[str, Any]:
    name = f"{part_of}-{namespace}-{count}"
    metadata = {"namespace": namespace, "labels": {"app.kubernetes.io/part-of": part_of}}
    return existing("PodClique", name, metadata=metadata, status={"scheduledReplicas": count})


WANTED = [
    # name, metadata in the cluster, used, with topology-aware scheduling on and off
    ("lab", {}, False, True, True),
    ("lab", GOING, True, True, True),
    ("lab", GOING, False, False, False),
    ("grove-topology", MANAGED, True, True, False),
    ("grove-topology", MANAGED, False, False, False),
    ("grove-topology", MANAGED | GOING, True, True, False),
    ("grove-topology", MANAGED | GOING, False, False, False),
    ("grove-topology", {}, False, True, True),
    ("grove-topology", LABELLED, False, True, True),
]


@rows(("name", "metadata", "used", "on", "off"), WANTED)
def test_a_topology_is_wanted_until_it_is_deleted_and_nobody_refers_to_it(
    name: str, metadata: dict[str, Any], used: bool, on: bool, off: bool
) -> None:
    live = manifest_of(name, "rack", metadata=metadata)
    found = ExpandedTopology(live, Snapshot([live]))
    found.peers = [found]
    found.find_sets = lambda: [user("a", clusterTopologyName=name, **RACK)] if used else []
    assert [topology_is_desired(found, ON), topology_is_desired(found, OFF)] == [on, off]


def test_one_that_the_default_replaces_is_not_wanted() -> None:
    default = default_topology(levels("zone"), Snapshot())
    declared = topology("grove-topology", "zone")
    declared.peers = default.peers = [default]
    assert (declared.is_replaced, default.is_replaced) == (True, False)
    assert not topology_is_desired(declared, ON)
