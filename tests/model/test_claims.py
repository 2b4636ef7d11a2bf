"""ResourceClaims that pods share."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.expanded.claims import claim_names, claims, pod_claim_names, spec_in_version, unresolved_sharing
from grove_compiler.model.expanded.structure import ExpandedSet
from tests.suite.rows import rows

from .sets import Manifest, clique, existing, existing_pod, expand, find_clique, group, pcs

NESTED = {"devices": {"requests": [{"name": "d", "exactly": {"deviceClassName": "c", "count": 2}}]}}
FLAT = {"devices": {"requests": [{"name": "d", "deviceClassName": "c", "count": 2}]}}
EITHER = {"devices": {"requests": [{"name": "d", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}]}}


def template(name: str, spec: Manifest | None = None) -> Manifest:
    return {"name": name, "templateSpec": {"spec": spec or NESTED}}


def share(name: str, scope: str = "AllReplicas", **parts: Any) -> Manifest:
    return {"name": name, "scope": scope, **parts}


def sharing(set_: list[Any] = (), one: list[Any] = (), many: list[Any] = (), **settings: Any) -> ExpandedSet:  # type: ignore[assignment]
    """A set with a standalone clique `a` of two pods and a group `g` of `b`; `set_`, `one` and `many` are shared by set, `a` and `g`."""
    cliques = [clique("a", replicas=2, resourceSharing=list(one)), clique("b")]
    groups = [group("g", ["b"], replicas=2, resourceSharing=list(many))]
    templates = [template(name) for name in ("t", "u", "v")]
    manifest = pcs(cliques, groups, 2, resourceClaimTemplates=templates, resourceSharing=list(set_))
    return expand(manifest, kube_version=settings.pop("kube_version", "1.35"), **settings)


def test_the_set_owns_one_claim_for_all_or_one_for_each_replica() -> None:
    found = claims(sharing([share("t"), share("u", "PerReplica")]))
    assert [(part.name, part.index, part.owner.id) for part in found] == [
        ("demo-all-t", None, "PodCliqueSet/default/demo"),
        ("demo-0-u", 0, "PodCliqueSet/default/demo"),
        ("demo-1-u", 1, "PodCliqueSet/default/demo"),
    ]


def test_a_scaling_group_owns_one_claim_for_all_or_one_for_each_of_its_replicas() -> None:
    found = claims(sharing(many=[share("t", "PerReplica"), share("u")]).replicas[1].scaling_groups[0])
    assert [(part.name, part.index, part.owner.id) for part in found] == [
        ("demo-1-g-0-t", 0, "PodCliqueScalingGroup/default/demo-1-g"),
        ("demo-1-g-1-t", 1, "PodCliqueScalingGroup/default/demo-1-g"),
        ("demo-1-g-all-u", None, "PodCliqueScalingGroup/default/demo-1-g"),
    ]


def test_a_clique_owns_one_claim_for_all_or_one_for_each_pod() -> None:
    found = claims(find_clique(sharing(one=[share("t"), share("u", "PerReplica")]), "demo-0-a"))
    assert [part.name for part in found] == ["demo-0-a-all-t", "demo-0-a-0-u", "demo-0-a-1-u"]


def test_a_pod_uses_the_widest_claims_first_and_those_for_all_before_its_own() -> None:
    found = sharing([share("v", "PerReplica"), share("t")], many=[share("u", "PerReplica"), share("t")])
    assert claim_names(find_clique(found, "demo-1-g-0-b")) == ["demo-all-t", "demo-1-v", "demo-1-g-all-t", "demo-1-g-0-u"]


def test_a_cliques_own_claims_come_last_and_each_pods_apart() -> None:
    found = find_clique(sharing([share("t")], one=[share("v", "PerReplica"), share("u")]), "demo-0-a")
    assert claim_names(found) == ["demo-all-t", "demo-0-a-all-u"]
    assert [pod_claim_names(found, index) for index in (0, 1)] == [["demo-0-a-0-v"], ["demo-0-a-1-v"]]


FILTERS: list[tuple[Any, bool, bool]] = [
    (None, True, True),
    ({"childCliqueNames": ["a"]}, True, False),
    ({"childCliqueNames": ["b"]}, False, True),
    ({"childScalingGroupNames": ["g"]}, False, True),
    ({"childScalingGroupNames": ["a"]}, False, False),
    ({"childCliqueNames": ["a"], "childScalingGroupNames": ["g"]}, True, True),
    ({"childCliqueNames": ["g"]}, False, False),
    ({}, False, False),
]


@rows(("filter", "reaches_a", "reaches_b"), FILTERS)
def test_a_filter_of_the_set_names_cliques_or_groups(filter: Any, reaches_a: bool, reaches_b: bool) -> None:
    found = sharing([share("t", **({} if filter is None else {"filter": filter}))])
    assert bool(claim_names(find_clique(found, "demo-0-a"))) is reaches_a
    assert bool(claim_names(find_clique(found, "demo-0-g-0-b"))) is reaches_b


def test_a_clique_owns_the_claims_of_the_pods_that_it_has_whatever_their_indices() -> None:
    """Scaled in to two, it loses the pod that is not ready and not the last one, which goes on using its own claim."""
    manifest = pcs([clique("a", 3, 1, resourceSharing=[share("t", "PerReplica")])], resourceClaimTemplates=[template("t")])
    ready = {"spec": {"nodeName": "node"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    states: list[dict[str, Any]] = [ready, {}, ready]
    there = [existing_pod("demo-0-a", str(index), index, **state) for index, state in enumerate(states)]
    found = expand(manifest, [existing("PodClique", "demo-0-a", spec={"replicas": 2}), *there])
    assert [part.name for part in claims(find_clique(found, "demo-0-a"))] == ["demo-0-a-0-t", "demo-0-a-2-t"]


def test_a_filter_of_a_group_names_cliques() -> None:
    assert claim_names(find_clique(sharing(many=[share("t", filter={"childCliqueNames": ["b"]})]), "demo-0-g-0-b")) == ["demo-0-g-all-t"]
    assert claim_names(find_clique(sharing(many=[share("t", filter={"childCliqueNames": ["a"]})]), "demo-0-g-0-b")) == []


def test_claims_are_made_whatever_the_filter() -> None:
    assert [part.name for part in claims(sharing([share("t", filter={"childCliqueNames": ["nobody"]})]))] == ["demo-all-t"]


def test_the_claims_of_a_group_reach_nobody_outside() -> None:
    assert claim_names(find_clique(sharing(many=[share("t")]), "demo-0-a")) == []


def test_a_groups_claims_follow_its_live_replicas() -> None:
    manifest = pcs([clique("b")], [group("g", ["b"], resourceSharing=[share("t", "PerReplica")])], resourceClaimTemplates=[template("t")])
    found = expand(manifest, [existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": 3})])
    assert [part.name for part in claims(found.replicas[0].scaling_groups[0])] == ["demo-0-g-0-t", "demo-0-g-1-t", "demo-0-g-2-t"]


CLUSTER = existing("ResourceClaimTemplate", "ext", spec={"metadata": {"labels": {"a": "b"}}, "spec": FLAT})
ELSEWHERE = existing("ResourceClaimTemplate", "ext", metadata={"namespace": "shared"}, spec={"spec": EITHER})
LOOSE = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "ext"}, "spec": {"spec": NESTED}}


def external(ref: Manifest, snapshot: list[Manifest], **template_parts: Any) -> ExpandedSet:
    return expand(pcs([clique("a")], resourceSharing=[ref], **template_parts), snapshot, kube_version="1.35")


def test_a_template_of_the_cluster_is_taken_when_the_set_has_none_of_that_name() -> None:
    assert [part.spec for part in claims(external(share("ext"), [CLUSTER]))] == [NESTED]


def test_a_template_of_another_namespace_is_named_with_it() -> None:
    assert [part.spec for part in claims(external(share("ext", namespace="shared"), [CLUSTER, ELSEWHERE]))] == [EITHER]


def test_the_sets_own_template_wins_unless_a_namespace_is_named() -> None:
    own = {"resourceClaimTemplates": [template("ext", EITHER)]}
    assert [part.spec for part in claims(external(share("ext"), [CLUSTER], **own))] == [EITHER]
    assert [part.spec for part in claims(external(share("ext", namespace="default"), [CLUSTER], **own))] == [NESTED]


def test_a_template_without_a_namespace_is_in_the_one_that_manifests_go_to() -> None:
    assert [part.spec for part in claims(external(share("ext"), [LOOSE]))] == [NESTED]
    assert claims(external(share("ext", namespace="shared"), [LOOSE])) == []


def test_without_its_template_a_claim_is_left_out_and_told() -> None:
    found = external(share("ext"), [])
    assert claims(found) == []
    assert [ref.path for ref in unresolved_sharing(found)] == ["spec.template.resourceSharing[0]"]


def test_pods_use_a_claim_whose_template_is_not_known_here() -> None:
    """It may be in the cluster; then the claim is made there, and the pod waits for it."""
    assert claim_names(external(share("ext"), []).replicas[0].cliques[0]) == ["demo-all-ext"]


def test_all_levels_are_looked_through_for_missing_templates() -> None:
    found = sharing([share("x")], one=[share("y")], many=[share("z"), share("t")])
    assert [ref.name for ref in unresolved_sharing(found)] == ["x", "z", "y"]


SHAPES = [
    (NESTED, "v1", NESTED),
    (NESTED, "v1beta2", NESTED),
    (NESTED, "v1beta1", FLAT),
    (FLAT, "v1", NESTED),
    (FLAT, "v1beta1", FLAT),
    (EITHER, "v1", EITHER),
    (EITHER, "v1beta1", EITHER),
    ({}, "v1", {}),
    ({"devices": {}}, "v1beta1", {"devices": {}}),
    ({"devices": {"requests": []}}, "v1", {"devices": {"requests": []}}),
]


@rows(("spec", "version", "expected"), SHAPES)
def test_requests_have_the_shape_of_the_version(spec: Manifest, version: str, expected: Manifest) -> None:
    assert spec_in_version(spec, version) == expected


def test_what_is_beside_the_requests_stays() -> None:
    spec = {"devices": {**FLAT["devices"], "constraints": [{"matchAttribute": "a"}], "config": []}, "other": 1}
    found = spec_in_version(spec, "v1")
    assert (found["devices"]["constraints"], found["devices"]["config"], found["other"]) == ([{"matchAttribute": "a"}], [], 1)


def test_the_targets_version_decides_the_shape() -> None:
    assert claims(sharing([share("t")], kube_version="1.32"))[0].spec == FLAT
    assert claims(sharing([share("t")], kube_version="1.34"))[0].spec == NESTED


REQUESTS = st.lists(
    st.fixed_dictionaries({"name": st.text(max_size=3)}, optional={"deviceClassName": st.text(max_size=3), "count": st.integers(1, 9)}),
    max_size=3,
)


@given(REQUESTS)
def test_there_and_back_nothing_is_lost(requests: list[Any]) -> None:
    spec = {"devices": {"requests": requests}}
    assert spec_in_version(spec_in_version(spec, "v1"), "v1beta1") == spec
