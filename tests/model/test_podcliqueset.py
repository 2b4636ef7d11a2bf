"""A PodCliqueSet as the user wrote it, however wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from tests.suite.rows import rows

from .sets import clique, group, pcs

EMPTY: list[dict[str, Any]] = [
    {},
    {"metadata": {}, "spec": {}},
    {"metadata": None, "spec": None},
    {"metadata": {"labels": None, "annotations": None}, "spec": {"replicas": None, "template": None}},
    {"spec": {"template": {"cliques": None, "podCliqueScalingGroups": None}}},
    {"spec": {"template": {"headlessServiceConfig": None, "priorityClassName": None, "terminationDelay": None}}},
    {"spec": {"updateStrategy": None, "template": {"resourceSharing": None, "resourceClaimTemplates": None}}},
]


def read(cliques: list[Any], groups: list[Any] | None = None, **template: Any) -> PodCliqueSet:
    return PodCliqueSet(pcs(cliques, groups or [], **template))


@rows("manifest", EMPTY)
def test_a_set_without_anything_has_empty_parts(manifest: dict[str, Any]) -> None:
    found = PodCliqueSet(manifest)
    assert (found.name, found.uid, found.labels, found.annotations) == ("", "", {}, {})
    assert (found.replica_count, found.cliques, found.groups, found.claim_templates, found.resource_sharing) == (0, [], [], [], [])
    assert (found.startup_type, found.priority_class, found.termination_delay, found.publish_not_ready) == ("", "", None, False)


def test_a_clique_without_anything_has_empty_parts() -> None:
    found = read([{}]).cliques[0]
    assert (found.name, found.role_name, found.replicas, found.min_available, found.starts_after) == ("", "", 0, None, [])
    assert (found.pod_spec, found.containers, found.init_containers, found.autoscaling, found.group) == ({}, [], [], None, None)
    assert (found.scheduler_name, found.constraint, found.resource_sharing) == ("", None, [])


def test_a_scaling_group_without_anything_has_empty_parts() -> None:
    found = read([], [{}]).groups[0]
    assert (found.name, found.clique_names, found.cliques, found.replicas, found.min_available) == ("", [], [], None, None)
    assert (found.annotations, found.autoscaling, found.constraint, found.pods_per_replica) == ({}, None, None, 0)


def test_metadata_is_read() -> None:
    found = PodCliqueSet(
        pcs([], metadata={"name": "big", "namespace": "prod", "uid": "u1", "labels": {"a": "b"}, "annotations": {"c": "d"}})
    )
    assert (found.name, found.namespace, found.uid, found.labels, found.annotations) == ("big", "prod", "u1", {"a": "b"}, {"c": "d"})


def test_a_set_without_a_namespace_goes_to_the_default_one() -> None:
    assert PodCliqueSet({"metadata": {"name": "demo"}}, "prod").namespace == "prod"
    assert PodCliqueSet({"metadata": {"name": "demo", "namespace": "own"}}, "prod").namespace == "own"


def test_a_reference_names_the_set() -> None:
    found = PodCliqueSet(pcs([], metadata={"uid": "u1"}))
    assert found.ref == ObjectRef("grove.io/v1alpha1", "PodCliqueSet", "default", "demo", "u1")


def test_foreign_labels_and_annotations_leave_groves_own_out() -> None:
    entries = {"team": "a", "grove.io/x": "1", "grove.iox/y": "2", "my.grove.io/z": "3"}
    found = PodCliqueSet(pcs([], metadata={"labels": entries, "annotations": entries}))
    rest = {"team": "a", "grove.iox/y": "2", "my.grove.io/z": "3"}
    assert (found.foreign_labels, found.foreign_annotations) == (rest, rest)


def test_what_kubectl_remembers_of_the_set_is_no_business_of_others() -> None:
    """The shipped operator copies it to every PodGang (shipped semantics §14.27)."""
    found = PodCliqueSet(pcs([], metadata={"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "a"}}))
    assert found.foreign_annotations == {"team": "a"}


@pytest.mark.parametrize("key", ["applyset.kubernetes.io/part-of", "objectset.rio.cattle.io/hash"])
def test_what_makes_the_set_a_member_of_what_a_tool_has_applied_makes_its_gangs_none(key: str) -> None:
    """The tool would delete them, since it has not applied them."""
    found = PodCliqueSet(pcs([], metadata={"labels": {key: "x", "team": "a"}, "annotations": {key: "x", "team": "a"}}))
    assert (found.foreign_labels, found.foreign_annotations) == ({"team": "a"}, {"team": "a"})


def test_the_template_is_read() -> None:
    found = read(
        [],
        cliqueStartupType="CliqueStartupTypeInOrder",
        priorityClassName="high",
        terminationDelay="4h0m0s",
        headlessServiceConfig={"publishNotReadyAddresses": True},
        topologyConstraint={"topologyName": "t"},
    )
    assert (found.startup_type, found.priority_class, found.termination_delay) == ("CliqueStartupTypeInOrder", "high", "4h0m0s")
    assert found.publish_not_ready
    assert found.placement.constraint is not None and found.placement.constraint.topology_name == "t"


def test_cliques_know_where_they_stand() -> None:
    found = read([clique("a"), clique("b")], [group("g", ["a"])])
    assert [part.path for part in found.cliques] == ["spec.template.cliques[0]", "spec.template.cliques[1]"]
    assert [part.path for part in found.groups] == ["spec.template.podCliqueScalingGroups[0]"]
    assert (found.clique_names, found.group_names) == (["a", "b"], ["g"])


def test_a_clique_is_read() -> None:
    entry = clique(
        "a",
        replicas=3,
        min_available=2,
        labels={"l": "1"},
        annotations={"m": "2"},
        topologyConstraint={"packDomain": "rack"},
        startsAfter=["b"],
        podSpec={"initContainers": [{"name": "i"}], "schedulerName": "volcano"},
    )
    found = read([entry]).cliques[0]
    assert (found.replicas, found.min_available, found.starts_after, found.role_name) == (3, 2, ["b"], "a")
    assert (found.labels, found.annotations) == ({"l": "1"}, {"m": "2"})
    assert found.constraint is not None and found.constraint.required == "rack"
    assert ([box["name"] for box in found.containers], [box["name"] for box in found.init_containers]) == (["main"], ["i"])
    assert found.scheduler_name == "volcano"


def test_autoscaling_has_another_field_name_on_cliques_than_on_groups() -> None:
    config = {"minReplicas": 1, "maxReplicas": 4, "metrics": [{"type": "Resource"}]}
    found = read([clique("a", autoScalingConfig=config)], [group("g", [], scaleConfig=config)])
    of_clique, of_group = found.cliques[0].autoscaling, found.groups[0].autoscaling
    for scaling, path in [(of_clique, "cliques[0].spec.autoScalingConfig"), (of_group, "podCliqueScalingGroups[0].scaleConfig")]:
        assert scaling is not None
        assert (scaling.path, scaling.min_replicas, scaling.max_replicas) == (f"spec.template.{path}", 1, 4)
        assert scaling.metrics == [{"type": "Resource"}]


def test_autoscaling_without_numbers_has_none() -> None:
    scaling = read([clique("a", autoScalingConfig={})]).cliques[0].autoscaling
    assert scaling is not None
    assert (scaling.min_replicas, scaling.max_replicas, scaling.metrics) == (None, None, None)


def test_a_clique_knows_its_group_by_its_exact_name() -> None:
    """The shipped operator looks for names by their ends, so that it takes `a` for `ba` (shipped semantics §14.1)."""
    found = read([clique("a"), clique("ba")], [group("g", ["ba"])])
    assert [part.group and part.group.name for part in found.cliques] == [None, "g"]


def test_of_several_groups_that_name_a_clique_it_is_in_the_first() -> None:
    found = read([clique("a")], [group("g", ["a"]), group("h", ["a"])])
    assert found.cliques[0].group is found.groups[0]


def test_a_group_has_its_cliques_in_the_order_of_their_names() -> None:
    found = read([clique("a"), clique("b"), clique("c")], [group("g", ["c", "a"])])
    assert [part.name for part in found.groups[0].cliques] == ["c", "a"]


def test_a_group_skips_names_that_nobody_has() -> None:
    found = read([clique("a")], [group("g", ["ghost", "a"])])
    assert [part.name for part in found.groups[0].cliques] == ["a"]
    assert found.groups[0].clique_names == ["ghost", "a"]


def test_of_several_cliques_with_one_name_a_group_has_the_first() -> None:
    found = read([clique("a"), clique("a")], [group("g", ["a"])])
    assert [part.index for part in found.groups[0].cliques] == [0]


def test_groups_know_their_cliques_whichever_is_asked_first() -> None:
    manifest = pcs([clique("a")], [group("g", ["a"])])
    assert [part.name for part in PodCliqueSet(manifest).groups[0].cliques] == ["a"]
    assert [part.group is not None for part in PodCliqueSet(manifest).cliques] == [True]


def test_a_group_counts_the_pods_of_one_replica() -> None:
    found = read([clique("a", replicas=2), clique("b", replicas=3), clique("c")], [group("g", ["a", "b"])])
    assert found.groups[0].pods_per_replica == 5


def test_claim_templates_are_read() -> None:
    spec = {"devices": {"requests": [{"name": "d"}]}}
    found = read([], resourceClaimTemplates=[{"name": "t", "templateSpec": {"spec": spec}}, {"name": "u"}]).claim_templates
    assert [(part.name, part.path) for part in found] == [
        ("t", "spec.template.resourceClaimTemplates[0]"),
        ("u", "spec.template.resourceClaimTemplates[1]"),
    ]
    assert (found[0].spec, found[0].requests) == (spec, [{"name": "d"}])
    assert (found[1].spec, found[1].requests) == ({}, [])


def test_sharing_is_read_at_all_three_levels() -> None:
    entry = {"name": "t", "namespace": "n", "scope": "PerReplica", "filter": {"childCliqueNames": ["a"], "childScalingGroupNames": ["g"]}}
    found = read([clique("a", resourceSharing=[entry])], [group("g", [], resourceSharing=[entry])], resourceSharing=[entry])
    refs = [found.resource_sharing[0], found.cliques[0].resource_sharing[0], found.groups[0].resource_sharing[0]]
    places = ["", ".cliques[0]", ".podCliqueScalingGroups[0]"]
    assert [ref.path for ref in refs] == [f"spec.template{place}.resourceSharing[0]" for place in places]
    for ref in refs:
        assert (ref.name, ref.namespace, ref.scope, ref.index) == ("t", "n", "PerReplica", 0)
        assert (ref.child_clique_names, ref.child_scaling_group_names) == (["a"], ["g"])


def test_sharing_without_a_filter_is_not_sharing_with_an_empty_one() -> None:
    without, empty = read([], resourceSharing=[{"name": "t"}, {"name": "t", "filter": {}}]).resource_sharing
    assert (without.filter, empty.filter) == (None, {})
    assert (empty.child_clique_names, empty.child_scaling_group_names) == ([], [])


QUEUES = [
    ({}, [], []),
    ({"labels": {"kai.scheduler/queue": "q"}}, [], ["q"]),
    ({"annotations": {"kai.scheduler/queue": "q"}}, [], ["q"]),
    ({"labels": {"kai.scheduler/queue": "q"}, "annotations": {"kai.scheduler/queue": "r"}}, [], ["q"]),
    ({}, [{"labels": {"kai.scheduler/queue": "q"}}, {"annotations": {"kai.scheduler/queue": "q"}}], ["q"]),
    ({}, [{"labels": {"kai.scheduler/queue": "q"}}, {}], ["q"]),
    ({"labels": {"kai.scheduler/queue": "q"}}, [{"labels": {"kai.scheduler/queue": "r"}}], ["q", "r"]),
]


@rows(("metadata", "entries", "expected"), QUEUES)
def test_the_queues_of_kai_are_labels_or_annotations(metadata: Any, entries: list[Any], expected: list[str]) -> None:
    cliques = [clique(f"c{number}", **entry) for number, entry in enumerate(entries)]
    assert read(cliques, metadata=metadata).kai_queues == expected


def test_the_queues_of_volcano_are_annotations_without_spaces_around_them() -> None:
    key = "scheduling.grove.io/volcano-queue"
    found = read([clique("a", annotations={key: "r "}), clique("b", annotations={key: "q"})], metadata={"annotations": {key: " q "}})
    assert found.volcano_queues == ["q", "r"]


def test_what_is_hashed_is_the_pod_template_with_the_sets_priority() -> None:
    entry = clique("a", labels={"l": "1"}, podSpec={"priorityClassName": "low"})
    found = read([entry]).cliques[0].hashed_template("high")
    assert found["metadata"] == {"labels": {"l": "1"}}
    assert found["spec"] == {"containers": [{"name": "main", "image": "busybox"}], "priorityClassName": "high"}


def test_with_one_clique_both_hashes_are_equal() -> None:
    found = read([clique("a")])
    assert found.cliques[0].pod_template_hash == found.generation_hash


def test_cliques_with_the_same_template_have_the_same_hash() -> None:
    cliques = read([clique("a", replicas=1), clique("b", replicas=5), clique("c", labels={"x": "y"})]).cliques
    first, second, third = (one.pod_template_hash for one in cliques)
    assert first == second
    assert first != third


def test_the_order_of_cliques_is_part_of_the_generation_hash() -> None:
    one, other = clique("a", labels={"x": "1"}), clique("b", labels={"x": "2"})
    assert read([one, other]).generation_hash != read([other, one]).generation_hash


def test_an_attribute_is_worked_out_once() -> None:
    found = read([clique("a")])
    assert found.cliques is found.cliques
    assert found.cliques[0].pod_spec is found.manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]


NAMES = st.sampled_from(["", "a", "b", "ba"])
NUMBERS = st.none() | st.integers(-1, 3)
CLIQUES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "name": NAMES,
            "labels": st.none() | st.just({"a": "b"}),
            "spec": st.none()
            | st.fixed_dictionaries(
                {}, optional={"replicas": NUMBERS, "minAvailable": NUMBERS, "startsAfter": st.none() | st.lists(NAMES)}
            ),
        },
    ),
    max_size=4,
)
GROUPS = st.lists(
    st.fixed_dictionaries({}, optional={"name": NAMES, "cliqueNames": st.none() | st.lists(NAMES, max_size=3), "replicas": NUMBERS}),
    max_size=3,
)


@given(CLIQUES, GROUPS)
def test_any_set_of_the_right_structure_can_be_read(cliques: list[Any], groups: list[Any]) -> None:
    found = PodCliqueSet({"spec": {"template": {"cliques": cliques, "podCliqueScalingGroups": groups}}})
    for part in [*found.cliques, *found.groups]:
        for name in vars(type(part)):
            if not name.startswith("_"):
                getattr(part, name)
    assert [part.index for part in found.cliques] == list(range(len(cliques)))
    assert all(isinstance(part, CliqueTemplate | ScalingGroupTemplate) for part in [*found.cliques, *found.groups])
