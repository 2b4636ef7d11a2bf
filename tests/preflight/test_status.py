"""How gangs and single pods stand, as pods and the gangs' ConfigMaps show it."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.preflight.status import as_json, as_text
from grove_compiler.graph.node import Manifest
from grove_operator.preflight.status import GangState, gang_states, pod_states
from tests.suite.rows import rows

from .test_gang_config import WORKLOAD, config_map, pod

METRICS = (
    'preflight_check_total{check="nccl-allreduce",result="passed"} 1\npreflight_bus_bandwidth_gbps{check="nccl-allreduce",node="n"} 166.5\n'
)


def with_check(name: str, address: str, state: dict[str, Any], last: dict[str, Any] | None = None) -> Manifest:
    """A pod of the gang whose check is in this state."""
    made = pod(name, address, creationTimestamp="2026-01-01T00:00:00Z")
    reported = {"name": "preflight-nccl-allreduce", "state": state, "lastState": last or {}}
    return {**made, "status": {**made["status"], "initContainerStatuses": [reported]}}


def ended(code: int, message: str = "") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "message": message}}


def one_gang(*pods: Manifest) -> GangState:
    (gang,) = gang_states(pods, [config_map(WORKLOAD, *pods)])
    return gang


RUNS: dict[str, Any] = {"running": {}}
STATES = {
    "a pod is missing": ([with_check("pod-0", "10.0.1.5", RUNS)], "waits"),
    "all are there": ([with_check("pod-0", "10.0.1.5", RUNS), with_check("pod-1", "10.0.1.6", RUNS)], "runs"),
    "one has not passed yet": ([with_check("pod-0", "10.0.1.5", RUNS), with_check("pod-1", "10.0.1.6", ended(0))], "runs"),
    "all have passed": ([with_check("pod-0", "10.0.1.5", ended(0)), with_check("pod-1", "10.0.1.6", ended(0))], "passed"),
    "one has failed": ([with_check("pod-0", "10.0.1.5", RUNS), with_check("pod-1", "10.0.1.6", ended(1))], "failed"),
    "one is tried again after it failed": ([with_check("pod-0", "10.0.1.5", {"waiting": {}}, ended(1))], "failed"),
}


@rows("what", STATES)
def test_a_gang_is_in_the_state_of_its_checks(what: str) -> None:
    pods, state = STATES[what]
    assert one_gang(*pods).state == state


def test_the_slowest_pod_says_how_fast_a_gang_is() -> None:
    slow = METRICS.replace("166.5", "160")
    gang = one_gang(with_check("pod-0", "10.0.1.5", ended(0, METRICS)), with_check("pod-1", "10.0.1.6", ended(0, slow)))
    (line,) = as_text([gang], [], gang.since + 90)
    assert line.decode() == "training/preflight-myworkload-group1  passed  2 of 2 pods  for 90 s  160 GB/s\n"


def test_pods_that_have_not_passed_are_told_one_by_one() -> None:
    gang = one_gang(with_check("pod-0", "10.0.1.5", ended(0)), with_check("pod-1", "10.0.1.6", ended(1)))
    assert [line.decode() for line in as_text([gang], [], gang.since)][1:] == [
        "  pod-1  10.0.1.6  no node  nccl-allreduce failed (1) after 0 s: it ended with exit code 1\n"
    ]


def test_a_check_tells_how_long_it_runs_how_fast_it_was_and_why_it_failed() -> None:
    slow = "# 5 GB/s, less than 10\n" + METRICS.replace("166.5", "5") + 'preflight_check_duration_seconds{check="nccl-allreduce"} 61.5\n'
    runs = {"running": {"startedAt": "2026-01-01T00:00:30Z"}}
    gang = one_gang(with_check("pod-0", "10.0.1.5", ended(1, slow)), with_check("pod-1", "10.0.1.6", runs))
    lines = [line.decode().strip() for line in as_text([gang], [], gang.since + 90)]
    assert lines[1].endswith("nccl-allreduce failed (1) after 62 s at 5 GB/s: 5 GB/s, less than 10")
    assert lines[2].endswith("nccl-allreduce runs for 60 s")


def test_a_gang_whose_config_map_is_not_there_waits_for_nobody_knows_how_many() -> None:
    (gang,) = gang_states([with_check("pod-0", "", RUNS)], [])
    assert "0 of ? pods" in next(as_text([gang], [], 0)).decode()


def test_programs_are_told_the_same() -> None:
    gang = one_gang(with_check("pod-0", "10.0.1.5", ended(0, METRICS)), with_check("pod-1", "10.0.1.6", ended(0)))
    (told,) = as_json([gang], [])["gangs"]
    assert (told["state"], told["pods"][0]["checks"][0]["busBandwidthGBps"]) == ("passed", 166.5)


def test_a_gang_tells_for_how_long_its_pods_waited_for_one_another() -> None:
    waited = METRICS + 'preflight_gang_wait_seconds{workload="g"} 42.4\n'
    gang = one_gang(with_check("pod-0", "10.0.1.5", ended(0, waited)), with_check("pod-1", "10.0.1.6", ended(0, METRICS)))
    (line,) = as_text([gang], [], gang.since)
    assert "  waited 42 s  166.5 GB/s" in line.decode()


def test_a_pod_that_ended_and_was_replaced_says_nothing_of_its_gang() -> None:
    bad, good = with_check("pod-0", "10.0.1.4", ended(1)), (with_check("pod-1", "10.0.1.5", RUNS), with_check("pod-2", "10.0.1.6", RUNS))
    bad["status"]["phase"] = "Failed"
    assert one_gang(bad, *good).state == "runs"
    assert one_gang(bad, good[0]).state == "failed"


def test_a_check_that_passed_and_runs_anew_has_not_passed() -> None:
    gang = one_gang(with_check("pod-0", "10.0.1.5", RUNS, ended(0)), with_check("pod-1", "10.0.1.6", ended(0)))
    assert gang.state == "runs"


def alone(state: dict[str, Any]) -> Manifest:
    """A pod with a check of its own GPUs, which waits for nobody."""
    metadata = {"name": "p", "namespace": "training", "creationTimestamp": "2026-01-01T00:00:00Z"}
    spec = {"nodeName": "n1", "initContainers": [{"name": "preflight-dcgm-diag"}]}
    return {"metadata": metadata, "spec": spec, "status": {"initContainerStatuses": [{"name": "preflight-dcgm-diag", "state": state}]}}


def test_pods_that_wait_for_no_gang_are_none_of_it() -> None:
    assert gang_states([alone(RUNS)], []) == []


def test_a_pod_without_a_gang_is_told_of_with_the_check_that_failed() -> None:
    (pod,) = pod_states([alone(ended(1, "# GPU-a failed memory"))])
    (line,) = as_text([], [pod], pod.since + 5)
    assert line.decode() == "training/p  failed  for 5 s  n1  dcgm-diag failed (1) after 0 s: GPU-a failed memory\n"
    assert [one["state"] for one in as_json([], [pod])["pods"]] == ["failed"]


ALONE = {"failed": ended(1), "runs": RUNS, "waits": {"waiting": {}}, "passed": ended(0)}


@pytest.mark.parametrize("state", ALONE)
def test_a_pod_without_a_gang_is_in_the_state_of_its_checks(state: str) -> None:
    assert [pod.state for pod in pod_states([alone(ALONE[state])])] == [state]


def test_where_nothing_runs_and_nothing_has_failed_people_are_told_so() -> None:
    assert list(as_text([], [], 0)) == [b"no pod waits for a gang, and no check runs or has failed\n"]
