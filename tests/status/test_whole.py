"""What a step says of a PodClique is its whole status, or nothing: a server takes away what an apply no longer names."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.settings import Settings
from tests.features.compiling import program_with
from tests.model.sets import clique, pcs
from tests.step.world import context

from .world import NOW, keys_of, live_objects_of, merged, told

OWN = """
rule: own/tired
doc: A condition of a user's rule.
condition: Tired
forEach: {replica: set.replicas, clique: replica.all_cliques}
when: clique.ref.uid
of: clique.ref
cases:
  - {status: "True", reason: Work, message: it works}
"""
MOMENTS_AGO = timestamp(NOW - 2)
JUST_MADE = {"metadata": {"creationTimestamp": MOMENTS_AGO}}
JUST_SCHEDULED = {"status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": MOMENTS_AGO}]}}
UNSCHEDULABLE = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}
READY_GANG = {"conditions": [{"type": "Initialized", "status": "True"}]}


def outcome(pods: list[str], change: dict[str, Any] | None = None, **statuses: dict[str, Any]) -> dict[str, Any]:
    """What steps say of a set of one clique whose gang may start, by the rules that ship and one more; the pods are changed so."""
    shared = context(Settings(pods=True), program=program_with(OWN))
    manifest = pcs([clique("a", 2)])
    objects = live_objects_of(manifest, {"demo-0-a": pods}, {"PodGang demo-0": READY_GANG, **statuses}, shared)
    objects = [merged(one, change or {}) if one["kind"] == "Pod" else one for one in objects]
    for gang in (one for one in objects if one["kind"] == "PodGang"):
        names = [one["metadata"]["name"] for one in objects if one["kind"] == "Pod"]
        [group] = gang["spec"]["podgroups"]
        group["podReferences"] = [{"namespace": "default", "name": name} for name in sorted(names)]
    return told(objects, keys_of(manifest), shared)


def said(pods: list[str]) -> dict[str, Any]:
    statuses: dict[str, Any] = outcome(pods)["statuses"]
    return statuses


def test_nothing_is_said_of_a_clique_while_its_gates_are_taken_off() -> None:
    assert "PodClique demo-0-a" not in said(["gated", "gated"])


@pytest.mark.parametrize("pods", [["ready", "ready"], ["scheduled"], ["waiting", "scheduled"]], ids=", ".join)
def test_else_conditions_come_with_the_counts(pods: list[str]) -> None:
    status = said(pods)["PodClique demo-0-a"]
    assert {"Tired", "PodCliqueScheduled", "MinAvailableBreached"} <= status["conditions"].keys()
    assert {"replicas", "readyReplicas"} <= status.keys()


ON_THE_WAY = {
    "not looked at by the scheduler": (["waiting", "waiting"], JUST_MADE, 18.0),
    "not looked at by another scheduler": (["waiting", "waiting"], merged(JUST_MADE, {"spec": {"schedulerName": "own"}}), 1.0),
    "on nodes": (["scheduled", "scheduled"], JUST_SCHEDULED, 1.0),
}


@pytest.mark.parametrize(("pods", "change", "until"), ON_THE_WAY.values(), ids=ON_THE_WAY)
def test_nothing_is_said_of_a_new_clique_whose_pods_are_on_their_way_until_they_are_late(
    pods: list[str], change: dict[str, Any], until: float
) -> None:
    found = outcome(pods, change)
    assert ("PodClique demo-0-a" in found["statuses"], found["again"]) == (False, until)


WORTH_TELLING = {
    "a pod that no node has room for": (["waiting", "waiting"], merged(JUST_MADE, UNSCHEDULABLE)),
    "a pod that has crashed": (["crashed", "scheduled"], JUST_SCHEDULED),
    "a pod that the scheduler has not looked at for long": (["waiting", "waiting"], {}),
    "a pod whose time nobody knows": (["scheduled", "scheduled"], {}),
}


@pytest.mark.parametrize(("pods", "change"), WORTH_TELLING.values(), ids=WORTH_TELLING)
def test_of_a_new_clique_is_told(pods: list[str], change: dict[str, Any]) -> None:
    assert "PodClique demo-0-a" in outcome(pods, change)["statuses"]


def test_a_clique_of_which_something_was_said_is_told_of_at_once() -> None:
    found = outcome(["scheduled", "scheduled"], JUST_SCHEDULED, **{"PodClique demo-0-a": {"replicas": 2}})
    assert found["statuses"]["PodClique demo-0-a"]["scheduledReplicas"] == 2
