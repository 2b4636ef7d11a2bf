"""Clocks of nodes and operators differ, and times are whole seconds: neither ends a job early, nor lets it wait, nor finishes a rank."""

from __future__ import annotations

from functools import partial

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD

from .jobs import WORKER, attempts, away, causes, exit_pod, job, phase, pod_of, report, started


@pytest.mark.parametrize("code", [0, 143])
def test_a_program_that_heeds_sigterm_in_the_second_of_the_request_has_not_ended_before_it(code: int) -> None:
    simulation = started(maxRestarts=1, failureRules=[{"action": "Fail", "exitCodes": [143]}])
    pod = pod_of(simulation, WORKER, 0)
    simulation.machines.lost.add(pod["metadata"]["uid"])
    away(simulation, partial(delete_and_stop, simulation, pod["metadata"]["name"], code))
    simulation.run_operator()
    assert (causes(simulation), simulation.status()["restartCount"]) == (["PodDeleted"], 1)
    assert "succeededIndexes" not in report(simulation)


def delete_and_stop(simulation: Simulation, name: str, code: int) -> None:
    """Somebody deletes a pod, whose program ends within the same second."""
    simulation.world.delete(POD, name)
    pod = simulation.world.get(POD, name)
    ended = {"exitCode": code, "finishedAt": timestamp(simulation.world.now)}
    statuses = [{"name": "main", "state": {"terminated": ended}}]
    simulation.world.report(pod, phase="Failed" if code else "Succeeded", conditions=[], containerStatuses=statuses)


def test_a_pod_that_is_deleted_in_the_second_in_which_it_has_finished_has_succeeded() -> None:
    simulation = started()
    pod = pod_of(simulation, WORKER, 0)
    simulation.let_pass(1)
    exit_pod(simulation, 0)
    simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    assert (report(simulation)["succeededIndexes"], attempts(simulation)) == ("0", {"1"})


def test_a_node_whose_clock_is_behind_does_not_bring_the_deadline_forward() -> None:
    simulation = Simulation()
    simulation.world.apply(job(maxRuntime="10m"))
    for _ in simulation.rounds():
        for pod in simulation.world.pods():
            set_back(simulation, pod)
    simulation.wait(60)
    assert phase(simulation) == "Running"
    simulation.wait(600)
    assert phase(simulation) == "Failed"


def set_back(simulation: Simulation, pod: Manifest) -> None:
    """The node of a pod says that its containers started an hour ago."""
    statuses = pod.get("status", {}).get("containerStatuses") or []
    started_at = {"running": {"startedAt": timestamp(simulation.world.now - 3600)}}
    if statuses:
        simulation.world.report(pod, containerStatuses=[{**one, "state": started_at} for one in statuses])


def test_a_time_that_a_clock_ahead_has_recorded_lets_nobody_wait_for_a_lost_pod() -> None:
    simulation = started(maxRestarts=1)
    simulation.operator.kill()
    simulation.world.delete(POD, pod_of(simulation, WORKER, 1)["metadata"]["name"])
    simulation.machines.tick()
    simulation.operator.start()
    simulation.run_operator()
    clique = simulation.world.get(CLIQUE, WORKER)
    assert "lostSince" in clique["status"]
    simulation.world.put({**clique, "status": {**clique["status"], "lostSince": timestamp(simulation.world.now + 3600)}})
    simulation.wait(30)
    assert causes(simulation) == ["PodLost"]
