"""One look shows all mistakes: an invalid value hides neither what is wrong elsewhere, nor is blamed for more than itself."""

from __future__ import annotations

from typing import Any

from grove_compiler.compile import Inputs, lint, lint_manifests
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document
from tests.model.sets import clique, group, pcs
from tests.suite.rows import rows

TOO_MANY = "spec.template.cliques[0].spec.minAvailable"


def faulty(**changes: Any) -> dict[str, Any]:
    """A set whose first clique needs more pods than it has, and that starts in no particular order; with other values at some paths."""
    made = pcs([clique("a", 1, minAvailable=3), clique("b", 1)], [group("g", ["b"], 1, 1)])
    for path, value in changes.items():
        *steps, last = path.split("__")
        place: Any = made
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[last] = value
    return made


def paths(manifest: dict[str, Any], program: Program) -> list[str]:
    found = lint_manifests(Inputs([Document(manifest)]), program)
    return sorted(finding.path for finding in found if finding.severity == "error")


INDEPENDENT = {
    "a duration": ("spec__template__terminationDelay", "4hours", "spec.template.terminationDelay"),
    "an enumeration": ("spec__template__cliqueStartupType", "Wrong", "spec.template.cliqueStartupType"),
    "a number": ("spec__replicas", "two", "spec.replicas"),
    "a number of another clique": ("spec__template__cliques__1__spec__replicas", "x", "spec.template.cliques[1].spec.replicas"),
    "a boolean of a pod": (
        "spec__template__cliques__1__spec__podSpec__hostNetwork",
        5,
        "spec.template.cliques[1].spec.podSpec.hostNetwork",
    ),
}


@rows(("path", "value", "at"), INDEPENDENT.values(), ids=INDEPENDENT.keys())
def test_what_is_wrong_whatever_a_value_was_meant_to_be_is_told_beside_it(path: str, value: Any, at: str, program: Program) -> None:
    assert paths(faulty(**{path: value}), program) == sorted([at, TOO_MANY])


def test_what_may_only_follow_from_an_invalid_value_is_not_told(program: Program) -> None:
    assert paths(faulty(spec__template__cliques__0__spec__replicas="x"), program) == ["spec.template.cliques[0].spec.replicas"]


def test_an_order_that_an_invalid_type_would_allow_is_no_mistake(program: Program) -> None:
    made = faulty(spec__template__cliqueStartupType="Wrong", spec__template__cliques__1__spec__startsAfter=["a"])
    assert paths(made, program) == ["spec.template.cliqueStartupType", TOO_MANY]


def test_what_stands_beside_a_name_that_is_none_may_follow_from_it(program: Program) -> None:
    assert TOO_MANY not in paths(faulty(spec__template__cliques__0__spec__roleName=5), program)


LEVELS = [{"domain": "zone", "key": "z"}, {"domain": "host", "key": "kubernetes.io/hostname"}]
SETTINGS = {
    "a switch": {"topologyAwareScheduling": {"enabled": "true", "levels": LEVELS}},
    "a domain": {"topologyAwareScheduling": {"enabled": True, "levels": [LEVELS[0], {**LEVELS[1], "domain": "hst"}]}},
}


def paths_with(settings: dict[str, Any], manifest: dict[str, Any], program: Program) -> list[str]:
    config = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **settings}
    both = (Inputs([Document(manifest)], config=Document(config)), Inputs([Document(config), Document(manifest)]))
    found, same = (sorted(finding.path for finding in lint(inputs, program) if finding.severity == "error") for inputs in both)
    assert found == same
    return [path for path in found if path.startswith("spec")]


@rows("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_what_may_only_follow_from_an_invalid_setting_is_not_told_of_a_set(settings: dict[str, Any], program: Program) -> None:
    made = faulty(spec__template__topologyConstraint={"packDomain": "host"})
    assert paths_with(settings, made, program) == [TOO_MANY]


def test_an_invalid_setting_excuses_no_topology_that_does_not_exist(program: Program) -> None:
    made = faulty(spec__template__topologyConstraint={"packDomain": "host"}, spec__template__clusterTopologyName="none")
    settings = {"topologyAwareScheduling": {"enabled": True}, "controllers": {"podClique": {"concurrentSyncs": "x"}}}
    assert paths_with(settings, made, program) == sorted([TOO_MANY, "spec.template.clusterTopologyName"])
