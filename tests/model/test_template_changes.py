"""Which fields of a pod template an update changes."""

from __future__ import annotations

import copy
from typing import Any

from grove_compiler.graph.field_path import ABSENT, parse, replace
from grove_compiler.model.checks.update import changed_template_fields
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from tests.suite.rows import rows

from .sets import clique, pcs

CLIQUE: dict[str, Any] = clique(
    "a",
    labels={"tier": "gpu", "app.kubernetes.io/name": "a"},
    annotations={"note": "x"},
    podSpec={
        "containers": [
            {
                "name": "main",
                "image": "train:1",
                "env": [{"name": "A", "value": "1"}],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            },
            {"name": "side", "image": "side:1"},
        ],
        "nodeSelector": {"zone": "a"},
        "terminationGracePeriodSeconds": 30,
    },
)
HERE = "spec.template.cliques[1]"
POD = f"{HERE}.spec.podSpec"


def template(entry: dict[str, Any], priority: str = "") -> CliqueTemplate:
    return PodCliqueSet(pcs([clique("other"), entry], priorityClassName=priority)).cliques[1]


def changes(*edits: tuple[str, Any]) -> list[str]:
    entry = copy.deepcopy(CLIQUE)
    for path, value in edits:
        entry = replace(entry, parse(path), value)
    return changed_template_fields(template(entry), template(CLIQUE))


ONE_FIELD = {
    "a scalar": ("spec.podSpec.containers[0].image", "train:2", f"{POD}.containers[0].image"),
    "a scalar in another container": ("spec.podSpec.containers[1].image", "side:2", f"{POD}.containers[1].image"),
    "an environment variable": ("spec.podSpec.containers[0].env[0].value", "2", f"{POD}.containers[0].env[0].value"),
    "a field that is new": ("spec.podSpec.hostNetwork", True, f"{POD}.hostNetwork"),
    "a field that is gone": ("spec.podSpec.nodeSelector", ABSENT, f"{POD}.nodeSelector"),
    "a key of a map": ("spec.podSpec.nodeSelector.zone", "b", f"{POD}.nodeSelector.zone"),
    "a list that got longer": ("spec.podSpec.containers[0].env", [{"name": "A", "value": "1"}, {"name": "B"}], f"{POD}.containers[0].env"),
    "a list that got shorter": ("spec.podSpec.containers", CLIQUE["spec"]["podSpec"]["containers"][:1], f"{POD}.containers"),
    "another quantity": ("spec.podSpec.containers[0].resources.limits.cpu", "1001m", f"{POD}.containers[0].resources.limits.cpu"),
    "a label": ("labels.tier", "cpu", f"{HERE}.labels.tier"),
    "a label with a prefix": ("labels[app.kubernetes.io/name]", "b", f"{HERE}.labels[app.kubernetes.io/name]"),
    "a label that is new": ("labels.more", "x", f"{HERE}.labels.more"),
    "all labels": ("labels", ABSENT, f"{HERE}.labels"),
    "an annotation": ("annotations.note", "y", f"{HERE}.annotations.note"),
}


@rows(("path", "value", "expected"), ONE_FIELD.values(), ids=ONE_FIELD.keys())
def test_a_change_is_named_by_its_path(path: str, value: Any, expected: str) -> None:
    assert changes((path, value)) == [expected]


NO_CHANGE = {
    "a quantity in another form": ("spec.podSpec.containers[0].resources.limits.cpu", "1000m"),
    "a quantity that is a number": ("spec.podSpec.containers[0].resources.limits.cpu", 1),
    "null for what is absent": ("spec.podSpec.hostNetwork", None),
    "the number of pods": ("spec.replicas", 7),
    "the role": ("spec.roleName", "other"),
    "start-up": ("spec.startsAfter", ["other"]),
    "the same value": ("spec.podSpec.containers[0].image", "train:1"),
}


@rows(("path", "value"), NO_CHANGE.values(), ids=NO_CHANGE.keys())
def test_what_leaves_the_hash_alone_is_no_change(path: str, value: Any) -> None:
    assert changes((path, value)) == []


def test_every_change_is_named_in_the_order_of_the_template() -> None:
    found = changes(("spec.podSpec.containers[1].image", "side:2"), ("labels.tier", "cpu"), ("spec.podSpec.containers[0].image", "train:2"))
    assert found == [f"{HERE}.labels.tier", f"{POD}.containers[0].image", f"{POD}.containers[1].image"]


def test_what_only_looks_different_is_not_named_beside_a_change() -> None:
    found = changes(("spec.podSpec.containers[0].resources.limits.cpu", "1000m"), ("spec.podSpec.containers[0].image", "train:2"))
    assert found == [f"{POD}.containers[0].image"]


def test_the_priority_class_of_the_set_is_not_a_change_of_the_clique() -> None:
    assert changed_template_fields(template(CLIQUE, "high"), template(CLIQUE)) == []


def test_the_place_is_that_of_the_clique_now() -> None:
    moved = PodCliqueSet(pcs([replace(CLIQUE, ("labels", "tier"), "cpu")])).cliques[0]
    assert changed_template_fields(moved, template(CLIQUE)) == ["spec.template.cliques[0].labels.tier"]


def test_a_template_that_is_another_altogether_is_told_in_a_bounded_number_of_fields() -> None:
    many = {f"key-{number}": "x" for number in range(500)}
    assert len(changes(("labels", many))) == 100
