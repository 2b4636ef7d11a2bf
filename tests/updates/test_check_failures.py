"""Preflight checks of services that fail: pods are made again ever later, gangs as well, and the PodClique says why."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.reported_breach import ReportedBreach
from grove_compiler.model.expanded.termination import Breach
from tests.model.sets import clique, pcs
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE

CLIQUE_NAME = "demo-0-worker"
CONDITION = "PreflightFailing"


def service(restart_policy: str = "Never", **template: Any) -> Simulation:
    """A service of one worker whose pod runs."""
    one = clique("worker", 1)
    one["spec"]["podSpec"] |= {"restartPolicy": restart_policy, "initContainers": [{"name": "preflight-dcgm-diag", "image": "d"}]}
    return running(pcs([one], **template))


def the_pod(simulation: Simulation) -> Manifest:
    (pod,) = simulation.world.pods()
    return pod


def uid(simulation: Simulation) -> str:
    return str(the_pod(simulation)["metadata"]["uid"])


def fail(simulation: Simulation, phase: str = "Failed") -> None:
    """The check of the pod fails, now."""
    ended = {"terminated": {"exitCode": 1, "finishedAt": timestamp(simulation.world.now), "containerID": str(simulation.world.now)}}
    state = {"state": ended} if phase == "Failed" else {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    check = {"name": "preflight-dcgm-diag", **state}
    simulation.world.report(the_pod(simulation), phase=phase, conditions=[], initContainerStatuses=[check], containerStatuses=[])
    simulation.run_operator()


def succeed(simulation: Simulation) -> None:
    """The check of the pod passes, and the pod is ready."""
    ended = {"terminated": {"exitCode": 0, "finishedAt": timestamp(simulation.world.now)}}
    check = {"name": "preflight-dcgm-diag", "state": ended}
    ready = [{"type": "Ready", "status": "True"}]
    simulation.world.report(the_pod(simulation), phase="Running", conditions=ready, initContainerStatuses=[check])
    simulation.let_pass(5)
    simulation.run_operator()


def condition(simulation: Simulation) -> Manifest:
    conditions = simulation.status(CLIQUE, CLIQUE_NAME)["conditions"]
    return next((one for one in conditions if one["type"] == CONDITION), {})


def pause(simulation: Simulation) -> int:
    """How many seconds it takes until a pod whose check has just failed is made again, in steps of five."""
    fail(simulation)
    failed, waited = uid(simulation), 0
    while uid(simulation) == failed:
        assert waited < 5000
        simulation.let_pass(5)
        simulation.machines.tick()
        simulation.run_operator()
        waited += 5
    return waited


def test_a_pod_whose_check_fails_is_made_again_ever_later() -> None:
    simulation = service()
    pauses = [pause(simulation) for _ in range(7)]
    assert pauses[0] <= 15
    assert all(later >= 1.5 * earlier for earlier, later in pairwise(pauses[2:])), pauses


def test_it_keeps_its_place_meanwhile() -> None:
    simulation = service()
    failed = uid(simulation)
    fail(simulation)
    simulation.let_pass(5)
    assert uid(simulation) == failed


def test_a_pod_that_failed_by_itself_is_made_again_at_once() -> None:
    simulation = service()
    failed = uid(simulation)
    simulation.machines.exit(the_pod(simulation), 1)
    simulation.settle()
    assert uid(simulation) != failed


@pytest.mark.parametrize(("phase", "words"), [("Failed", "is recreated at"), ("Pending", "the kubelet retries it")])
def test_the_pod_clique_says_which_check_keeps_its_pods_from_starting(phase: str, words: str) -> None:
    simulation = service()
    fail(simulation, phase)
    simulation.let_pass(2)  # bad news waits for a moment
    told = condition(simulation)
    assert (told["status"], told["reason"]) == ("True", "BackOff")
    assert "Check dcgm-diag of pod" in told["message"]
    assert words in told["message"]


def test_it_says_so_until_the_checks_have_passed() -> None:
    simulation = service()
    pause(simulation)
    assert (condition(simulation)["status"], condition(simulation)["reason"]) == ("True", "TriedAgain")
    succeed(simulation)
    assert (condition(simulation)["status"], condition(simulation)["reason"]) == ("False", "Passed")


def test_after_a_pass_pauses_begin_anew() -> None:
    simulation = service()
    for _ in range(5):
        pause(simulation)
    succeed(simulation)
    assert pause(simulation) <= 15


def test_where_no_check_failed_nothing_is_said() -> None:
    assert condition(service()) == {}


# Seconds from when checks began to fail to when the gang's oldest pod was made, to those until its time is up; its delay is a minute.
DEADLINES = {"the first time": (0.0, 60.0), "soon after": (70.0, 70.0), "later": (600.0, 600.0), "at most": (90000.0, 3600.0)}


@pytest.mark.parametrize("when", DEADLINES)
def test_a_gang_whose_checks_fail_is_restarted_ever_later(when: str) -> None:
    elapsed, delay = DEADLINES[when]
    pod = LivePod(None, {"metadata": {"creationTimestamp": timestamp(elapsed)}})  # type: ignore[arg-type]
    breach = Breach(0, ReportedBreach(0.0, "demo-0-a", True), 60.0, [pod], 0.0)
    assert breach.deadline - breach.began == delay


def test_a_gang_whose_checks_do_not_fail_has_its_delay() -> None:
    assert Breach(0, ReportedBreach(0.0, "demo-0-a", True), 60.0, []).deadline == 60.0
