"""What kubectl and autoscalers see of a kind: shipped semantics §1.1."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from grove_compiler.api.crd import crds
from tests.suite.rows import rows

from .structural_crd import nodes, schema_of


@cache
def made() -> dict[str, Any]:
    """Returns the CRDs by kind."""
    return {crd["spec"]["names"]["kind"]: crd for crd in crds()}


BREACHED = '.status.conditions[?(@.type=="MinAvailableBreached")].status'

NAMES = {
    "PodCliqueSet": ("grove.io", "podcliquesets", ["pcs"], "Namespaced"),
    "PodClique": ("grove.io", "podcliques", ["pclq"], "Namespaced"),
    "PodCliqueScalingGroup": ("grove.io", "podcliquescalinggroups", ["pcsg"], "Namespaced"),
    "ClusterTopologyBinding": ("grove.io", "clustertopologybindings", ["ct"], "Cluster"),
    "ClusterTopology": ("grove.io", "clustertopologies", None, "Cluster"),
    "PodGang": ("scheduler.grove.io", "podgangs", ["pg"], "Namespaced"),
}
LEVELS = [("Broadest", "string", ".spec.levels[0].domain", 0), ("Narrowest", "string", ".spec.levels[-1:].domain", 0)]
COLUMNS = {
    "PodCliqueSet": [
        ("Replicas", "integer", ".spec.replicas", 0),
        ("Available", "integer", ".status.availableReplicas", 0),
        ("Updated", "integer", ".status.updatedReplicas", 0),
        ("PCLQs-Updated", "integer", ".status.updateProgress.updatedPodCliquesCount", 1),
        ("PCLQs-Total", "integer", ".status.updateProgress.totalPodCliquesCount", 1),
        ("PCSGs-Updated", "integer", ".status.updateProgress.updatedPodCliqueScalingGroupsCount", 1),
        ("PCSGs-Total", "integer", ".status.updateProgress.totalPodCliqueScalingGroupsCount", 1),
        ("Phase", "string", ".status.phase", 1),
        ("Attempt", "string", ".status.trainingReplicas[*].attempt", 1),
        ("Suspended", "string", '.status.conditions[?(@.type=="Suspended")].status', 1),
        ("Stalled", "string", '.status.conditions[?(@.type=="Stalled")].reason', 1),
        ("Why", "string", '.status.conditions[?(@.type=="WhyPending")].reason', 1),
    ],
    "PodClique": [
        ("MinAvail", "integer", ".spec.minAvailable", 0),
        ("Replicas", "integer", ".spec.replicas", 0),
        ("Ready", "integer", ".status.readyReplicas", 0),
        ("Scheduled", "integer", ".status.scheduledReplicas", 0),
        ("Updated", "integer", ".status.updatedReplicas", 0),
        ("Gated", "integer", ".status.scheduleGatedReplicas", 1),
        ("MinBreached", "string", BREACHED, 1),
    ],
    "PodCliqueScalingGroup": [
        ("MinAvail", "integer", ".spec.minAvailable", 0),
        ("Replicas", "integer", ".spec.replicas", 0),
        ("Available", "integer", ".status.availableReplicas", 0),
        ("Scheduled", "integer", ".status.scheduledReplicas", 0),
        ("Updated", "integer", ".status.updatedReplicas", 0),
        ("PCLQs-Updated", "integer", ".status.updateProgress.updatedPodCliquesCount", 1),
        ("PCLQs-Total", "integer", ".status.updateProgress.totalPodCliquesCount", 1),
        ("MinBreached", "string", BREACHED, 1),
    ],
    "ClusterTopologyBinding": LEVELS,
    "ClusterTopology": LEVELS,
    "PodGang": [("Phase", "string", ".status.phase", 0)],
}
SELECTORS = {
    "PodCliqueSet": ".status.hpaPodSelector",
    "PodClique": ".status.hpaPodSelector",
    "PodCliqueScalingGroup": ".status.selector",
}


def version(kind: str) -> dict[str, Any]:
    (only,) = made()[kind]["spec"]["versions"]
    return dict(only)


def test_there_is_a_crd_for_every_kind_that_is_stored() -> None:
    assert list(made()) == list(NAMES)


@rows("kind", NAMES)
def test_names_and_scope(kind: str) -> None:
    spec, names = made()[kind]["spec"], made()[kind]["spec"]["names"]
    assert (spec["group"], names["plural"], names.get("shortNames"), spec["scope"]) == NAMES[kind]
    assert (names["singular"], names["listKind"]) == (kind.lower(), f"{kind}List")
    assert made()[kind]["metadata"]["name"] == f"{names['plural']}.{spec['group']}"


@rows("kind", NAMES)
def test_there_is_one_version_that_is_served_and_stored(kind: str) -> None:
    assert (version(kind)["name"], version(kind)["served"], version(kind)["storage"]) == ("v1alpha1", True, True)


def test_no_two_kinds_of_a_group_share_a_short_name() -> None:
    taken = [(group, name) for group, _, short, _ in NAMES.values() for name in short or []]
    assert len(taken) == len(set(taken))


@rows("kind", NAMES)
def test_columns_end_with_the_age(kind: str) -> None:
    shown = version(kind)["additionalPrinterColumns"]
    assert shown[-1] == {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    assert [(c["name"], c["type"], c["jsonPath"], c.get("priority", 0)) for c in shown[:-1]] == COLUMNS[kind]


@rows("kind", NAMES)
def test_columns_and_scale_show_fields_that_exist(kind: str) -> None:
    fields = {path for path, _ in nodes(schema_of(made()[kind]))}
    shown = [column["jsonPath"] for column in version(kind)["additionalPrinterColumns"][:-1]]
    shown += version(kind).get("subresources", {}).get("scale", {}).values()
    plain = {re.sub(r"\[[^]]*\]", "[]", path) for path in shown}
    assert plain <= fields


@rows("kind", NAMES)
def test_subresources(kind: str) -> None:
    expected: dict[str, Any] = {} if kind == "ClusterTopology" else {"status": {}}
    if kind in SELECTORS:
        expected["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": SELECTORS[kind],
        }
    assert version(kind).get("subresources", {}) == expected


PLACES = ("", ".cliques[]", ".podCliqueScalingGroups[]")


def rules(kind: str) -> dict[str, list[dict[str, Any]]]:
    found = nodes(schema_of(made()[kind]))
    return {path: node["x-kubernetes-validations"] for path, node in found if "x-kubernetes-validations" in node}


def test_the_kinds_that_have_rules() -> None:
    constraints = [f".spec.template{place}.topologyConstraint" for place in PLACES]
    assert set(rules("PodCliqueSet")) == {"", *constraints, *[f"{constraint}.pack" for constraint in constraints]}
    assert set(rules("ClusterTopology")) == {".spec.levels"}
    assert [kind for kind in made() if rules(kind)] == ["PodCliqueSet", "ClusterTopology"]


@pytest.mark.parametrize("place", PLACES)
def test_a_constraint_says_where_to_pack_and_says_it_once(place: str) -> None:
    needs_one, not_both = rules("PodCliqueSet")[f".spec.template{place}.topologyConstraint"]
    assert needs_one == {
        "rule": "has(self.pack) || has(self.packDomain)",
        "message": "topologyConstraint must specify pack or deprecated packDomain",
        "reason": "FieldValueRequired",
        "fieldPath": ".pack",
    }
    assert not_both["rule"] == "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))"
    assert not_both["fieldPath"] == ".pack.required"


@pytest.mark.parametrize("place", PLACES)
def test_a_pack_names_a_domain(place: str) -> None:
    (only,) = rules("PodCliqueSet")[f".spec.template{place}.topologyConstraint.pack"]
    assert only["rule"] == "has(self.required) || has(self.preferred)"
    assert only["reason"] == "FieldValueRequired"


def test_the_deprecated_form_is_forbidden_on_creation_at_each_level() -> None:
    found = rules("PodCliqueSet")[""]
    assert [rule["fieldPath"] for rule in found] == [
        ".spec.template.topologyConstraint.packDomain",
        ".spec.template.cliques",
        ".spec.template.podCliqueScalingGroups",
    ]
    assert {(rule["reason"], rule["optionalOldSelf"]) for rule in found} == {("FieldValueForbidden", True)}
    assert all(rule["rule"].startswith("oldSelf.hasValue() || ") for rule in found)


def test_the_deprecated_form_is_packdomain_with_a_topologyname() -> None:
    assert all("topologyName" in rule["rule"] for rule in rules("PodCliqueSet")[""])


def test_levels_of_a_cluster_topology_are_unique_and_seven_at_most() -> None:
    levels = dict(nodes(schema_of(made()["ClusterTopology"])))[".spec.levels"]
    assert (levels["minItems"], levels["maxItems"]) == (1, 7)
    assert [rule["message"] for rule in levels["x-kubernetes-validations"]] == [
        "domain must be unique across all levels",
        "key must be unique across all levels",
    ]
