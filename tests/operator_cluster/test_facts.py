"""What objects say of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.queries.facts import facts, gates_of
from tests.suite.rows import rows

from .manifests import obj

GATES = [{"name": "grove.io/podgang-pending-creation"}]


def waiting(reason: str, **rest: Any) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason}}, **rest}


def condition(type: str, status: str, reason: str) -> dict[str, Any]:
    return {"conditions": [{"type": type, "status": status, "reason": reason}]}


@rows(
    ("kind", "spec", "status", "said"),
    [
        ("Pod", {"nodeName": "node-1"}, {"phase": "Running"}, ["Running", "on node-1"]),
        ("Pod", {"schedulingGates": GATES}, {"phase": "Pending"}, ["Pending", "gated by grove.io/podgang-pending-creation"]),
        ("Pod", {}, {"phase": "Pending", **condition("PodScheduled", "False", "Unschedulable")}, ["Pending", "Unschedulable"]),
        (
            "Pod",
            {"nodeName": "a"},
            {"phase": "Pending", "containerStatuses": [waiting("ErrImagePull")] * 2},
            ["Pending", "on a", "ErrImagePull"],
        ),
        ("Pod", {}, {"phase": "Running", "containerStatuses": [{"restartCount": 2}, {"restartCount": 1}]}, ["Running", "3 restarts"]),
        # As kubectl counts: those of init containers until they are done, and of sidecars.
        ("Pod", {}, {"phase": "Pending", "initContainerStatuses": [waiting("", restartCount=2)]}, ["Pending", "2 restarts"]),
        (
            "Pod",
            {},
            {"phase": "Running", "initContainerStatuses": [None, {"state": "x", "restartCount": 1}], "containerStatuses": ["x"]},
            ["Running", "1 restart"],
        ),
        (
            "Pod",
            {"initContainers": [{"name": "wait"}, {"name": "proxy", "restartPolicy": "Always"}]},
            {
                "phase": "Running",
                "initContainerStatuses": [
                    {"name": "wait", "restartCount": 9, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                    {"name": "proxy", "restartCount": 2, "started": True, "state": {"running": {}}},
                ],
                "containerStatuses": [{"restartCount": 1}],
            },
            ["Running", "3 restarts"],
        ),
        (
            "Pod",
            {},
            {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}]},
            ["Failed", "OOMKilled"],
        ),
        ("Pod", {}, {}, ["no phase yet"]),
        (
            "PodClique",
            {"replicas": 3, "minAvailable": 2},
            {"readyReplicas": 1, "scheduledReplicas": 2},
            ["1/3 ready", "2 needed", "2 scheduled"],
        ),
        ("PodClique", {"replicas": 3, "minAvailable": 3}, {"scheduleGatedReplicas": 2}, ["0/3 ready", "2 gated"]),
        ("PodClique", {"replicas": 1}, {"readyReplicas": 1, "scheduledReplicas": 1}, ["1/1 ready"]),
        ("PodClique", {"replicas": 1}, condition("MinAvailableBreached", "True", "TooFewPods"), ["0/1 ready", "TooFewPods"]),
        ("PodClique", {"replicas": 1}, {"lastErrors": [{"code": "ERR_X"}]}, ["0/1 ready", "last error ERR_X"]),
        ("PodCliqueScalingGroup", {"replicas": 2}, {"scheduledReplicas": 2}, ["0/2 available", "2 scheduled"]),
        ("PodCliqueSet", {"replicas": 2}, {"availableReplicas": 1, "phase": "Running"}, ["1/2 available", "Running"]),
        ("PodGang", {}, {"phase": "Starting"}, ["Starting"]),
        ("PodGang", {"podgroups": [{"name": "a", "minReplicas": 1, "podReferences": []}]}, {}, ["no phase yet", "waits for pods of a"]),
        ("HorizontalPodAutoscaler", {"maxReplicas": 5}, {"currentReplicas": 2, "desiredReplicas": 3}, ["2 now, 3 wanted, at most 5"]),
        ("PersistentVolumeClaim", {}, {"phase": "Bound"}, ["Bound"]),
        ("ConfigMap", {}, {}, []),
    ],
)
def test_an_object_says(kind: str, spec: Any, status: Any, said: list[str]) -> None:
    assert facts(obj(kind, "x", spec=spec, status=status)) == said


def test_an_object_that_is_being_deleted_says_what_holds_it() -> None:
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}
    assert facts(obj("ConfigMap", "x", metadata=metadata)) == ["being deleted, held by a/b"]


@pytest.mark.parametrize("status", [None, "text", {"conditions": None, "containerStatuses": None}, {"conditions": ["text"]}])
def test_a_strange_status_is_no_reason_to_fail(status: Any) -> None:
    assert facts(obj("Pod", "x", spec=None, status=status)) == ["no phase yet"]


def test_only_pods_have_gates() -> None:
    assert gates_of(obj("Pod", "x", spec={"schedulingGates": GATES})) == ["grove.io/podgang-pending-creation"]
    assert gates_of(obj("Job", "x", spec={"schedulingGates": GATES})) == []
