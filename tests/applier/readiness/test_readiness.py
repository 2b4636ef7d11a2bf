"""How ready objects of each kind are, by their status: one case a state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from applier.readiness import State, readiness
from applier.readiness.judgement import BUILT_IN
from tests.suite.rows import rows

from .objects import live

CASES = yaml.load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


@rows("case", CASES, ids=lambda case: case["case"])
def test_a_state_is_read_with_its_reason(case: dict[str, Any]) -> None:
    assert readiness(live(case))[:2] == (State(case["state"]), case.get("reason", ""))


def test_a_new_object_of_somebodys_kind_with_a_status_is_in_progress() -> None:
    assert readiness(live({"kind": "Widget"}), has_status=True) == (State.IN_PROGRESS, "it has no status yet", False)


def test_a_new_object_of_a_built_in_kind_without_a_rule_is_ready_although_it_has_a_status() -> None:
    assert readiness(live({"kind": "ResourceQuota"}), has_status=True).is_ready


def test_only_what_time_does_not_heal_is_final() -> None:
    assert [case["case"] for case in CASES if readiness(live(case)).final] == [
        "Deployment too late",
        "Job failed",
        "Job about to fail",
        "Pod evicted",
        "Pod failed",
        "Pod failed silently",
        "PersistentVolumeClaim lost",
        "CustomResourceDefinition refused",
        "Widget stalled",
    ]


def test_every_built_in_rule_has_a_ready_case_and_one_that_is_not() -> None:
    states: dict[str, set[bool]] = {}
    for case in CASES:
        states.setdefault(case["kind"], set()).add(case["state"] == "Ready")
    always = {"Ingress", "ReplicationController"}  # the second has the rule of the replica set
    assert {kind for _, kind in BUILT_IN if states.get(kind) != {True, False}} <= always


scalars = st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["", "True", "False", "Pending", "Running", "Failed"])
names = st.sampled_from(
    [
        "conditions",
        "phase",
        "replicas",
        "type",
        "status",
        "reason",
        "message",
        "updateStrategy",
        "rollingUpdate",
        "state",
        "waiting",
        "ingress",
    ]
)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4), max_leaves=12)


@given(st.sampled_from(sorted(BUILT_IN)), st.dictionaries(names, scalars, max_size=5))
def test_no_flat_status_is_too_strange_to_be_judged(kind: tuple[str, str], status: dict[str, Any]) -> None:
    manifest = {"apiVersion": f"{kind[0]}/v1" if kind[0] else "v1", "kind": kind[1], "metadata": {"name": "it"}, "status": status}
    assert isinstance(readiness(manifest).state, State)


@given(anything)
def test_no_status_of_somebodys_kind_is_too_strange_to_be_judged(status: Any) -> None:
    assert isinstance(
        readiness({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "it"}, "status": status}).state, State
    )
