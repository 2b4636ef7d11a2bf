"""What is shown of gangs and autoscalers is true: that one waits, though its scheduler or its controller reports nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from applier.readiness import State
from grove_cli.queries.live_states import LiveStates, readiness_check
from tests.shipped import program

Manifest = dict[str, Any]
GANG: Manifest = {
    "apiVersion": "scheduler.grove.io/v1alpha1",
    "kind": "PodGang",
    "metadata": {"name": "demo-0", "namespace": "ml"},
    "spec": {"podgroups": []},
    "status": {"phase": "Pending", "conditions": [{"type": "Initialized", "status": "True"}]},
}
READY = [{"type": "Ready", "status": "True"}]
UNPLACED = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
STARTING = [{"type": "PodScheduled", "status": "True"}]


def pod(conditions: list[Manifest], gang: str = "demo-0", **metadata: Any) -> Manifest:
    labels = {"grove.io/podgang": gang}
    return {"kind": "Pod", "metadata": {"namespace": "ml", "labels": labels, **metadata}, "status": {"conditions": conditions}}


def states(*objects: Manifest) -> LiveStates:
    return LiveStates(readiness_check(program()), objects)


@pytest.mark.parametrize(
    ("pods", "state", "facts"),
    [
        ([pod(READY), pod(READY)], State.READY, ["2 of 2 pods ready"]),
        ([pod(READY), pod(UNPLACED)], State.IN_PROGRESS, ["1 of 2 pods ready", "1 unschedulable"]),
        ([pod(STARTING)], State.IN_PROGRESS, ["0 of 1 pod ready"]),
        ([pod(READY), pod(UNPLACED, "other"), pod(UNPLACED, deletionTimestamp="now")], State.READY, ["1 of 1 pod ready"]),
        ([], State.READY, ["Pending"]),
    ],
    ids=["all ready", "one without a node", "one that starts", "others and those that go", "alone"],
)
def test_a_gang_is_as_ready_as_its_pods(pods: list[Manifest], state: State, facts: list[str]) -> None:
    shown = states(*pods)
    assert (shown.readiness(GANG).state, shown.facts(GANG)) == (state, facts)


def autoscaler(status: str, reason: str) -> Manifest:
    conditions = [{"type": "AbleToScale", "status": "True"}, {"type": "ScalingActive", "status": status, "reason": reason}]
    spec = {"maxReplicas": 9}
    return {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": {"name": "a"}, "spec": spec} | {
        "status": {"currentReplicas": 2, "conditions": conditions}
    }


def test_an_autoscaler_without_metrics_wants_nobody_knows_what() -> None:
    shown, blind = states(), autoscaler("False", "FailedGetResourceMetric")
    assert shown.readiness(blind).state is State.IN_PROGRESS
    assert shown.facts(blind) == ["2 now, wanted unknown (FailedGetResourceMetric), at most 9"]


@pytest.mark.parametrize(("status", "reason"), [("True", "ValidMetricFound"), ("False", "ScalingDisabled")])
def test_an_autoscaler_that_works_or_rests_is_ready(status: str, reason: str) -> None:
    shown, fine = states(), autoscaler(status, reason)
    assert shown.readiness(fine).state is State.READY
    assert shown.facts(fine) == ["2 now, 0 wanted, at most 9"]


def clique(condition: str, group: str = "demo-0-workers", **metadata: Any) -> Manifest:
    labels = {"grove.io/podcliquescalinggroup": group}
    conditions = [{"type": condition, "status": "True"}]
    return {"kind": "PodClique", "metadata": {"namespace": "ml", "labels": labels, **metadata}, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("cliques", "state"),
    [
        ([clique("Succeeded"), clique("Succeeded")], State.READY),
        ([clique("Succeeded"), clique("Succeeded", "other"), clique("Failed", deletionTimestamp="now")], State.READY),
        ([clique("Succeeded"), clique("PodCliqueScheduled")], State.IN_PROGRESS),
        ([clique("Succeeded", "other")], State.IN_PROGRESS),
        ([], State.IN_PROGRESS),
    ],
    ids=["all", "and others and those that go", "one runs", "only another's", "alone"],
)
def test_a_scaling_group_whose_cliques_have_succeeded_is_ready(cliques: list[Manifest], state: State) -> None:
    group = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup", "spec": {"replicas": 2}}
    group |= {"metadata": {"name": "demo-0-workers", "namespace": "ml"}, "status": {"availableReplicas": 0}}
    assert states(*cliques).readiness(group).state is state
