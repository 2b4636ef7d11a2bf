"""What a step says of a PodClique is its whole status, or nothing: a server takes away what an apply no longer names."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.inputs.settings import Settings
from tests.features.compiling import program_with
from tests.model.sets import clique, pcs
from tests.step.world import context

from .world import keys_of, running, told

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
READY_GANG = {"conditions": [{"type": "Initialized", "status": "True"}]}


def said(pods: list[str]) -> dict[str, Any]:
    """What is said of the one PodClique of a set whose gang may start, by the rules that ship and one more."""
    shared = context(Settings(pods=True), program=program_with(OWN))
    manifest = pcs([clique("a", 2)])
    objects = running(manifest, {"demo-0-a": pods}, {"PodGang demo-0": READY_GANG}, shared)
    for gang in (one for one in objects if one["kind"] == "PodGang"):
        names = [one["metadata"]["name"] for one in objects if one["kind"] == "Pod"]
        [group] = gang["spec"]["podgroups"]
        group["podReferences"] = [{"namespace": "default", "name": name} for name in sorted(names)]
    statuses: dict[str, Any] = told(objects, keys_of(manifest), shared)["statuses"]
    return statuses


def test_nothing_is_said_of_a_clique_while_its_gates_are_taken_off() -> None:
    assert "PodClique demo-0-a" not in said(["gated", "gated"])


@pytest.mark.parametrize("pods", [["ready", "ready"], ["scheduled"], ["waiting", "scheduled"]], ids=", ".join)
def test_else_conditions_come_with_the_counts(pods: list[str]) -> None:
    status = said(pods)["PodClique demo-0-a"]
    assert {"Tired", "PodCliqueScheduled", "MinAvailableBreached"} <= status["conditions"].keys()
    assert {"replicas", "readyReplicas"} <= status.keys()
