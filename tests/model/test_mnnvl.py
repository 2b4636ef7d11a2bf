"""Who is in which ComputeDomain, by which words of the manifest, and which gangs follow from it."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.checks.mnnvl_conflicts import class_conflicts, lost_waits, mode_conflicts, shared_claims
from grove_compiler.model.checks.update import mnnvl_changes
from grove_compiler.model.expanded import domains as compute_domains
from grove_compiler.model.expanded.domains import ComputeDomain, pod_claim
from grove_compiler.model.expanded.gang import base_gang
from grove_compiler.model.expanded.gang import gangs as gangs_of
from grove_compiler.model.expanded.startup import dependencies
from grove_compiler.model.inputs.mnnvl_shape import DRIVER, shape_of
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from tests.suite.rows import rows

from ..shipped import decisions
from .sets import Manifest, clique, existing, expand, find_clique, group, pcs

ENABLED, SCOPE, CLASS, GROUP = (f"grove.io/mnnvl-{word}" for word in ("enabled", "scope", "device-class", "group"))
GPU = {"containers": [{"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 4}}}]}
ON = {ENABLED: "true"}
OFF = {ENABLED: "false"}
PER_REPLICA = {ENABLED: "true", SCOPE: "scalingGroupReplica"}


def gpu(name: str, **entry: Any) -> Manifest:
    """A clique whose pods ask for GPUs."""
    return clique(name, podSpec=GPU, **entry)


def declared(manifest: Manifest) -> PodCliqueSet:
    return PodCliqueSet(manifest, decisions=decisions())


def scopes(manifest: Manifest) -> dict[str, str]:
    """The scope of each clique that joins a domain."""
    found = declared(manifest)
    pairs = [(one.name, found.mnnvl.membership(one)) for one in found.cliques]
    return {name: membership.scope for name, membership in pairs if membership}


def domains(manifest: Manifest, **options: Any) -> list[ComputeDomain]:
    return compute_domains.domains(expand(manifest, **options).replicas[0])


def test_a_set_that_says_nothing_has_no_domains() -> None:
    found = expand(pcs([gpu("a")]))
    assert (found.mnnvl.is_mentioned, found.mnnvl.is_used, compute_domains.domains(found.replicas[0])) == (False, False, [])


@rows(
    ("of_set", "of_group", "of_clique", "scope"),
    [
        ({}, {}, {}, None),
        (ON, {}, {}, "replica"),
        (ON, OFF, {}, None),
        (ON, {}, OFF, None),
        (ON, OFF, ON, "replica"),
        (OFF, PER_REPLICA, {}, "scalingGroupReplica"),
        (ON, PER_REPLICA, {}, "scalingGroupReplica"),
        (ON, {SCOPE: "scalingGroupReplica"}, {}, "scalingGroupReplica"),
        ({}, PER_REPLICA, {SCOPE: "clique"}, "clique"),
        ({}, PER_REPLICA, OFF, None),
        ({}, {}, ON | {SCOPE: "clique"}, "clique"),
        ({SCOPE: "replica"}, {}, ON, "replica"),
        ({ENABLED: "yes"}, {}, {}, None),
    ],
)
def test_the_nearest_annotation_holds_key_by_key(
    of_set: dict[str, str], of_group: dict[str, str], of_clique: dict[str, str], scope: str | None
) -> None:
    manifest = pcs([gpu("a", annotations=of_clique)], [group("g", ["a"], annotations=of_group)], metadata={"annotations": of_set})
    assert scopes(manifest).get("a") == scope


def test_cliques_without_gpus_are_in_no_domain_but_the_mode_reaches_them() -> None:
    found = declared(pcs([gpu("a"), clique("b")], metadata={"annotations": ON}))
    assert [bool(found.mnnvl.membership(one)) for one in found.cliques] == [True, False]
    assert [[membership.mnnvl_mode for membership in found.mnnvl.memberships(one)] for one in found.cliques] == [
        ["annotations"],
        ["annotations"],
    ]


@pytest.mark.parametrize(
    ("of_set", "of_group", "of_clique", "name"),
    [
        ({GROUP: "x"}, {}, {}, "x"),
        ({GROUP: "x"}, {GROUP: "y"}, {}, "y"),
        ({GROUP: "x"}, {GROUP: "y"}, {GROUP: "z"}, "z"),
        ({GROUP: "x"}, {GROUP: "none"}, {}, None),
        ({GROUP: "none"}, {}, {GROUP: "z"}, "z"),
    ],
)
def test_the_nearest_group_holds_and_none_keeps_out(
    of_set: dict[str, str], of_group: dict[str, str], of_clique: dict[str, str], name: str | None
) -> None:
    manifest = pcs([gpu("a", annotations=of_clique)], [group("g", ["a"], annotations=of_group)], metadata={"annotations": of_set})
    membership = declared(manifest).mnnvl.membership(declared(manifest).cliques[0])
    assert (membership.group if membership else None) == name


def test_a_membership_names_the_field_that_makes_it() -> None:
    found = declared(pcs([gpu("a"), gpu("b", annotations=ON)], metadata={"annotations": ON}))
    memberships = [found.mnnvl.membership(one) for one in found.cliques]
    assert [membership.place for membership in memberships if membership] == [
        f"metadata.annotations[{ENABLED}]",
        f"spec.template.cliques[1].annotations[{ENABLED}]",
    ]


def test_propagated_annotations_are_the_nearest_of_each_key() -> None:
    manifest = pcs(
        [gpu("a", annotations={SCOPE: "clique", "team": "x"})],
        [group("g", ["a"], annotations={CLASS: "c.example.com"})],
        metadata={"annotations": ON | {SCOPE: "replica"}},
    )
    found = declared(manifest)
    assert found.mnnvl.propagated(found.cliques[0]) == {ENABLED: "true", SCOPE: "clique", CLASS: "c.example.com"}


def test_annotations_are_propagated_also_where_they_switch_mnnvl_off() -> None:
    found = declared(pcs([gpu("a")], metadata={"annotations": OFF | {GROUP: "x"}}))
    assert (found.mnnvl.propagated(found.cliques[0]), found.mnnvl.inherited) == (OFF, OFF | {GROUP: "x"})


@pytest.mark.parametrize(
    ("annotations", "config", "joins"),
    [(ON, {}, True), ({}, {"enabled": True}, True), ({GROUP: "x"}, {}, False), (OFF, {}, False), ({}, {}, False)],
)
def test_a_clique_without_gpus_joins_by_naming_the_claim_in_the_ways_of_the_designs(
    annotations: dict[str, str], config: Manifest, joins: bool
) -> None:
    watching = {"containers": [{"name": "main", "image": "busybox", "resources": {"claims": [{"name": "mnnvl"}]}}]}
    manifest = pcs([clique("a", podSpec=watching)], metadata={"annotations": annotations}, computeDomainConfig=config)
    found = declared(manifest)
    assert bool(found.mnnvl.membership(found.cliques[0])) == joins


def test_a_container_that_names_the_claim_is_not_given_it_twice() -> None:
    watching = {"containers": [{"name": "main", "image": "busybox", "resources": {"claims": [{"name": "mnnvl"}]}}]}
    expanded = expand(pcs([clique("a", podSpec=watching)], metadata={"annotations": ON}))
    claim = pod_claim(find_clique(expanded, "demo-0-a"))
    assert claim is not None and (claim.is_new, claim.pointers) == (True, [])


@pytest.mark.parametrize(("key", "part"), [(SCOPE, "scope"), (CLASS, "device_class")])
def test_an_empty_value_is_the_default(key: str, part: str) -> None:
    plain, empty = (declared(pcs([gpu("a")], metadata={"annotations": ON | more})) for more in ({}, {key: ""}))
    of_plain, of_empty = (found.mnnvl.membership(found.cliques[0]) for found in (plain, empty))
    assert of_plain and of_empty and getattr(of_plain, part) == getattr(of_empty, part) != ""


def gangs(manifest: Manifest, **options: Any) -> dict[str, list[str]]:
    return {gang.name: [one.name for one in gang.cliques] for gang in gangs_of(expand(manifest, **options).replicas[0])}


def test_each_replica_of_a_group_with_its_own_domain_is_a_gang_with_its_own_index() -> None:
    found = gangs(pcs([clique("router"), gpu("w")], [group("g", ["w"], 3, 2, annotations=PER_REPLICA)]))
    assert found == {
        "demo-0": ["demo-0-router"],
        "demo-0-g-0": ["demo-0-g-0-w"],
        "demo-0-g-1": ["demo-0-g-1-w"],
        "demo-0-g-2": ["demo-0-g-2-w"],
    }


def test_only_replicas_beyond_min_available_wait_for_the_base_gang() -> None:
    found = expand(pcs([clique("router"), gpu("w")], [group("g", ["w"], 3, 2, annotations=PER_REPLICA)]))
    assert [one.base_gang_name for one in found.replicas[0].all_cliques] == [None, None, None, "demo-0"]


def test_nobody_waits_for_a_base_gang_that_is_empty() -> None:
    found = expand(pcs([gpu("w")], [group("g", ["w"], 3, 1, annotations=PER_REPLICA)]))
    assert [one.base_gang_name for one in found.replicas[0].all_cliques] == [None, None, None]
    assert base_gang(found.replicas[0]).groups == []


def test_a_group_whose_cliques_all_say_otherwise_stays_in_the_base_gang() -> None:
    found = gangs(pcs([gpu("w", annotations={SCOPE: "clique"})], [group("g", ["w"], 2, 1, annotations=PER_REPLICA)]))
    assert found == {"demo-0": ["demo-0-g-0-w"], "demo-0-g-0": ["demo-0-g-1-w"]}


def test_a_group_without_gpus_stays_in_the_base_gang() -> None:
    assert gangs(pcs([clique("w")], [group("g", ["w"], annotations=PER_REPLICA)])) == {"demo-0": ["demo-0-g-0-w"]}


def test_a_group_scaled_in_by_an_autoscaler_has_fewer_gangs_and_domains() -> None:
    live = [existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": 1})]
    manifest = pcs([gpu("w")], [group("g", ["w"], 3, 1, annotations=PER_REPLICA)])
    assert list(gangs(manifest, snapshot=live)) == ["demo-0", "demo-0-g-0"]
    assert [domain.name for domain in domains(manifest, snapshot=live)] == ["demo-0-g-0-cd"]


@pytest.mark.parametrize("startup", ["CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"])
def test_a_clique_waits_for_no_clique_of_another_gang(startup: str) -> None:
    cliques = [
        clique("first"),
        gpu("leader", startsAfter=["first"]),
        gpu("worker", startsAfter=["leader"]),
        clique("last", startsAfter=["worker"]),
    ]
    found = expand(pcs(cliques, [group("g", ["leader", "worker"], 2, 1, annotations=PER_REPLICA)], cliqueStartupType=startup))
    waits = {one.name: [other.name for other in dependencies(one)] for one in found.replicas[0].all_cliques}
    assert {name: names for name, names in waits.items() if names} == {
        "demo-0-g-0-worker": ["demo-0-g-0-leader"],
        "demo-0-g-1-worker": ["demo-0-g-1-leader"],
    }


def test_the_owner_is_the_gang_that_holds_the_pods() -> None:
    manifest = pcs([gpu("a", annotations=ON | {SCOPE: "clique"})], [group("g", ["a"], 2, 1)])
    assert {domain.name: domain.owner.id for domain in domains(manifest)} == {
        "demo-0-g-0-a-cd": "PodGang/default/demo-0",
        "demo-0-g-1-a-cd": "PodGang/default/demo-0-g-0",
    }


def test_the_owner_has_its_uid_once_it_exists() -> None:
    [domain] = domains(pcs([gpu("a")], metadata={"annotations": ON}), snapshot=[existing("PodGang", "demo-0")])
    assert domain.owner.uid == "uid-of-demo-0"


def test_domains_of_the_set_are_the_sets() -> None:
    config, shipped = pcs([gpu("a")], computeDomainConfig={"enabled": True}), pcs([gpu("a")], metadata={"annotations": {GROUP: "x"}})
    assert [(domain.name, domain.claim_name, domain.owner.kind) for made in (config, shipped) for domain in domains(made)] == [
        ("demo-0-cd", "demo-0-mnnvl-claim", "PodCliqueSet"),
        ("demo-0-x", "demo-0-x", "PodCliqueSet"),
    ]


@pytest.mark.parametrize(
    ("manifest", "shape", "claim"),
    [
        (pcs([gpu("a")], metadata={"annotations": ON}), "as-proposed", ("mnnvl", "demo-0-mnnvl-claim", None)),
        (pcs([gpu("a")], metadata={"annotations": ON}), "driver", ("mnnvl", None, "demo-0-mnnvl-claim")),
        (pcs([gpu("a")], computeDomainConfig={"enabled": True}), "as-proposed", ("mnnvl", None, "demo-0-mnnvl-claim")),
        (pcs([gpu("a")], computeDomainConfig={"enabled": True}), "driver", ("mnnvl", None, "demo-0-mnnvl-claim")),
        (pcs([gpu("a")], metadata={"annotations": {GROUP: "x"}}), "as-proposed", ("mnnvl-claim", None, "demo-0-x")),
    ],
)
def test_a_pod_refers_to_a_claim_or_to_a_template(manifest: Manifest, shape: str, claim: tuple[str, str | None, str | None]) -> None:
    found = pod_claim(find_clique(expand(manifest, mnnvl_shape=shape), "demo-0-a"))
    assert found is not None
    assert (found.name, found.claim, found.template) == claim


def test_what_a_template_says_already_is_not_said_again() -> None:
    spec = {
        "resourceClaims": [{"name": "mnnvl-claim", "resourceClaimTemplateName": "mine"}],
        "containers": [
            {"name": "one", "resources": {"limits": {"nvidia.com/gpu": 1}, "claims": [{"name": "mnnvl-claim"}]}},
            {"name": "two", "resources": {"limits": {"nvidia.com/gpu": 1}}},
        ],
    }
    found = pod_claim(find_clique(expand(pcs([clique("a", podSpec=spec)], metadata={"annotations": {GROUP: "x"}})), "demo-0-a"))
    assert found is not None
    assert (found.is_new, found.pointers) == (False, ["/containers/1"])


DOMAIN = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": "x", "namespace": "y"}}


def crd(served: bool, name: str = "v1beta1") -> Manifest:
    spec = {"versions": [{"name": name, "served": served}]}
    metadata = {"name": "computedomains.resource.nvidia.com"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}


@rows(
    ("objects", "shape"),
    [
        ([], "as-proposed"),
        ([DOMAIN], "driver"),
        ([{**DOMAIN, "apiVersion": "resource.nvidia.com/v1alpha1"}], "as-proposed"),
        ([crd(True)], "driver"),
        ([crd(False)], "as-proposed"),
        ([crd(True, "v1alpha1")], "as-proposed"),
    ],
)
def test_the_form_follows_from_what_the_cluster_shows(objects: list[Manifest], shape: str) -> None:
    assert shape_of(None, Snapshot(objects)) == shape


def test_a_choice_is_a_choice() -> None:
    assert (shape_of("as-proposed", Snapshot([DOMAIN])), shape_of(DRIVER, Snapshot())) == ("as-proposed", "driver")


def test_two_modes_are_told_once_for_each_pair_of_places() -> None:
    found = mode_conflicts(
        declared(pcs([gpu("a"), gpu("b")], metadata={"annotations": ON | {GROUP: "x"}}, computeDomainConfig={"enabled": True}))
    )
    assert [(one.clique.name, one.first.mnnvl_mode, one.second.mnnvl_mode) for one in found] == [
        ("a", "annotations", "computeDomainConfig"),
        ("a", "annotations", "mnnvl-group"),
    ]


def test_classes_are_compared_within_a_domain() -> None:
    one, other = ON | {SCOPE: "clique", CLASS: "one.example.com"}, {CLASS: "other.example.com"}
    apart = pcs([gpu("a", annotations=one), gpu("b", annotations=one | other)])
    together = pcs([gpu("a"), gpu("b", annotations=other)], metadata={"annotations": ON})
    assert class_conflicts(declared(apart)) == []
    assert [(found.clique.name, found.device_class, found.other_class) for found in class_conflicts(declared(together))] == [
        ("b", "other.example.com", "compute-domain.nvidia.com")
    ]


def test_waits_inside_a_gang_are_not_lost() -> None:
    cliques = [gpu("leader"), gpu("worker", startsAfter=["leader"]), clique("last", startsAfter=["worker", "nobody"])]
    found = declared(
        pcs(cliques, [group("g", ["leader", "worker"], annotations=PER_REPLICA)], cliqueStartupType="CliqueStartupTypeExplicit")
    )
    assert [(wait.clique.name, wait.other.name, wait.path) for wait in lost_waits(found)] == [
        ("last", "worker", "spec.template.cliques[2].spec.startsAfter[0]")
    ]


def test_no_wait_is_lost_where_no_group_has_a_gang_per_replica() -> None:
    cliques = [clique("router"), gpu("worker")]
    found = declared(pcs(cliques, [group("g", ["worker"])], metadata={"annotations": ON}, cliqueStartupType="CliqueStartupTypeInOrder"))
    assert lost_waits(found) == []


def test_the_users_of_a_shared_claim_are_counted_in_its_domain() -> None:
    whole = pcs(
        [gpu("a", replicas=3), gpu("b", replicas=2), clique("c", replicas=9)], [group("g", ["b"], 4, 1)], metadata={"annotations": ON}
    )
    apart = pcs([gpu("a", replicas=3), gpu("b", replicas=2)], [group("g", ["a", "b"], 4, 1, annotations=PER_REPLICA)])
    assert [[claim.pods for claim in shared_claims(declared(made))] for made in (whole, apart)] == [[11], [5]]


def test_changes_are_those_of_layers_of_the_same_name() -> None:
    new = pcs([gpu("b", annotations={GROUP: "x"}), gpu("a", annotations={GROUP: "y"}), gpu("new", annotations=ON)])
    old = pcs([gpu("a", annotations={GROUP: "z"}), gpu("b", annotations={GROUP: "x", SCOPE: "clique"}), gpu("gone", annotations=ON)])
    changes = mnnvl_changes(declared(new), declared(old))
    assert [(change.what, change.annotation.path, change.annotation.value, change.old) for change in changes] == [
        ("removed", f"spec.template.cliques[0].annotations[{SCOPE}]", "", "clique"),
        ("changed", f"spec.template.cliques[1].annotations[{GROUP}]", "y", "z"),
    ]


def test_a_set_is_the_same_one_whatever_it_is_called() -> None:
    old, new = pcs([gpu("a")]), pcs([gpu("a")], metadata={"name": "other", "annotations": ON})
    assert [(change.what, change.annotation.value) for change in mnnvl_changes(declared(new), declared(old))] == [("added", "true")]


def test_the_last_layers_are_the_cliques_in_order() -> None:
    found = declared(pcs([gpu("a"), gpu("b")], [group("g", ["b"])]))
    assert [(layer.kind, layer.name, layer.above.kind if layer.above else "") for layer in found.mnnvl.layers] == [
        ("set", "demo", ""),
        ("group", "g", "set"),
        ("clique", "a", "set"),
        ("clique", "b", "group"),
    ]
    assert [found.mnnvl.layer_of(one).name for one in found.cliques] == ["a", "b"]
