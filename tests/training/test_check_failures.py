"""Preflight checks of training workloads that fail: one budget pays for them and for programs, so that no gang is made again for ever."""

from __future__ import annotations

from itertools import pairwise

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from tests.model.sets import clique
from tests.simulation.simulation import Simulation

from .jobs import WORKER, attempts, away, exit_pod, fail, job, last_attempt, phase, pod_of, report, started, uids
from .test_register_ends import begun


def checked_worker() -> Manifest:
    """A clique of three pods with a check, of which two can do without the third."""
    worker = clique("worker", 3, 2)
    worker["spec"]["podSpec"]["initContainers"] = [{"name": "preflight-dcgm-diag", "image": "d"}]
    return worker


def fail_check(simulation: Simulation, index: int = 0, behind: float = 0.0) -> None:
    """The preflight check of a pod fails, and with it the pod, at a node whose clock is so many seconds `behind`."""
    at = timestamp(simulation.world.now - behind)
    ended = {"name": "preflight-dcgm-diag", "state": {"terminated": {"exitCode": 1, "finishedAt": at}}}
    simulation.world.report(
        pod_of(simulation, WORKER, index), phase="Failed", conditions=[], initContainerStatuses=[ended], containerStatuses=[]
    )


def test_a_check_that_fails_while_others_have_not_started_is_judged_at_once() -> None:
    simulation = begun(maxRestarts=1)
    fail_check(simulation)
    simulation.run_operator()
    assert simulation.status()["restartCount"] == 1
    assert last_attempt(simulation)["container"] == "init container preflight-dcgm-diag"


def test_a_check_that_failed_long_before_others_started_costs_a_restart() -> None:
    simulation = begun(maxRestarts=1)
    fail_check(simulation)
    simulation.let_pass(300)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def test_checks_that_fail_again_and_again_end_the_workload() -> None:
    simulation = started(maxRestarts=2)
    for _ in range(3):
        fail_check(simulation)
        simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Failed", 2)


def test_checks_and_programs_share_one_budget() -> None:
    simulation = started(maxRestarts=1)
    fail_check(simulation)
    simulation.settle()
    fail(simulation)
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Failed", 1)


@pytest.mark.parametrize("behind", [0, 86400])
def test_a_worker_that_is_replaced_by_itself_comes_back_ever_later(behind: float) -> None:
    simulation = started(job([checked_worker()]))
    pauses = [pause(simulation, behind) for _ in range(6)]
    assert simulation.status()["restartCount"] == 0
    assert pauses[0] <= 15
    assert all(later >= 1.5 * earlier for earlier, later in pairwise(pauses[2:])), pauses


def test_a_pod_that_is_kept_of_the_attempt_before_says_nothing_of_the_checks_of_this_one() -> None:
    simulation = started(job([checked_worker()], maxRestarts=1, keepFinishedPods={"onRestart": True}))
    fail_check(simulation)
    for index in (1, 2):
        exit_pod(simulation, index, 1)
    simulation.settle()
    simulation.wait(30)
    assert len(simulation.world.pods()) == 6
    assert failing(simulation) == []


def pause(simulation: Simulation, behind: float) -> int:
    """How many seconds it takes until a worker whose check has just failed is replaced, in steps of five."""
    fail_check(simulation, behind=behind)
    failed, waited = pod_of(simulation, WORKER, 0)["metadata"]["uid"], 0
    while failed in uids(simulation) or len(uids(simulation)) < 3:
        assert waited < 3000
        simulation.let_pass(5)
        simulation.machines.tick()
        simulation.run_operator()
        waited += 5
    return waited


def test_no_pod_is_said_to_come_again_in_a_workload_that_has_ended() -> None:
    simulation = started(job([checked_worker()], maxRuntime="10m"))
    for index in (1, 2):
        exit_pod(simulation, index)
    simulation.settle()
    fail_check(simulation)
    simulation.run_operator()
    simulation.let_pass(5)
    assert failing(simulation)
    away(simulation, seconds=700)
    simulation.settle()
    simulation.wait(60)
    assert (phase(simulation), failing(simulation)) == ("Failed", [])


def test_checks_no_longer_fail_once_the_ranks_that_have_not_finished_have_passed_theirs() -> None:
    simulation = started(job([checked_worker()]))
    fail_check(simulation)
    simulation.let_pass(15)
    for index in (1, 2):
        exit_pod(simulation, index)
    for _ in range(4):
        simulation.let_pass(3)
        simulation.machines.tick()
    assert failing(simulation)
    passed = {"name": "preflight-dcgm-diag", "state": {"terminated": {"exitCode": 0}}}
    simulation.world.report(pod_of(simulation, WORKER, 0), initContainerStatuses=[passed])
    simulation.let_pass(5)
    assert failing(simulation) == []


def failing(simulation: Simulation) -> list[Manifest]:
    """What a PodClique says of checks that fail."""
    return [one for one in report(simulation)["conditions"] if (one["type"], one["status"]) == ("PreflightFailing", "True")]
