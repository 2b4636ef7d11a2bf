"""Replicas fail together: all are restarted and counted, or none is, and status, events and condition say the same (decisions §11)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.sets import clique
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE
from tests.training.jobs import exit_pod, failed_because, job, phase, started, take


def together(replicas: int, *, code: int = 1, **limits: Any) -> Simulation:
    """As many replicas, the last first, fail while no operator looks, so that it sees all of them at once."""
    simulation = started(job([clique("worker", 2)], replicas=3, **limits))
    simulation.operator.kill()
    for index in reversed(range(replicas)):
        exit_pod(simulation, 0, code, clique=f"demo-{index}-worker")
    simulation.operator.start()
    simulation.settle()
    return simulation


def counted(simulation: Simulation) -> list[tuple[int, bool]]:
    return [(one["replica"], one["counted"]) for one in simulation.status()["attempts"]]


def told(simulation: Simulation, reason: str) -> list[str]:
    """What events of a reason say, without the failure."""
    return [one.partition("; ")[2] for one in simulation.world.told if one.startswith(f"{reason}:")]


def message(simulation: Simulation) -> str:
    [failed] = [one["message"] for one in simulation.status()["conditions"] if one["type"] == "Failed"]
    return str(failed)


def test_each_restart_that_takes_place_counts_one_in_the_order_of_the_replicas() -> None:
    simulation = together(2, maxRestarts=2)
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Running", 2)
    assert counted(simulation) == [(0, True), (1, True)]
    assert told(simulation, "ReplicaRestarting") == ["restart 1 of 2", "restart 2 of 2"]


NEEDED = {
    (1, 0): "1 restart is needed, for replica 0; maxRestarts allows 0, and 0 are used",
    (2, 1): "2 restarts are needed, for replicas 0 and 1; maxRestarts allows 1, and 0 are used",
    (3, 2): "3 restarts are needed, for replicas 0, 1 and 2; maxRestarts allows 2, and 0 are used",
}


@pytest.mark.parametrize(("failed", "allowed"), NEEDED)
def test_where_the_budget_is_too_small_for_all_nothing_is_restarted_or_counted(failed: int, allowed: int) -> None:
    simulation = together(failed, maxRestarts=allowed)
    assert (phase(simulation), failed_because(simulation), simulation.status()["restartCount"]) == ("Failed", ["MaxRestartsExceeded"], 0)
    assert counted(simulation) == [(index, False) for index in range(failed)]
    assert {one["attempt"] for one in simulation.status()["trainingReplicas"]} == {1}
    assert told(simulation, "ReplicaRestarting") == []
    assert told(simulation, "MaxRestartsExceeded") == [NEEDED[failed, allowed]] * failed
    assert message(simulation) == NEEDED[failed, allowed]


def test_what_was_used_before_is_told_apart_from_what_is_needed_now() -> None:
    simulation = together(1, maxRestarts=2)
    for index in (1, 2):
        exit_pod(simulation, 1, 1, clique=f"demo-{index}-worker")
    simulation.settle()
    assert message(simulation) == "2 restarts are needed, for replicas 1 and 2; maxRestarts allows 2, and 1 is used"
    assert (simulation.status()["restartCount"], counted(simulation)) == (1, [(0, True), (1, False), (2, False)])


def test_free_restarts_need_nothing_of_the_budget() -> None:
    simulation = started(job([clique("worker", 2)], replicas=3, maxRestarts=1, ignoreDisruptions=True))
    simulation.operator.kill()
    for index in (0, 2):
        take(simulation, 0, clique=f"demo-{index}-worker", reason="EvictionByEvictionAPI")
    exit_pod(simulation, 0, 1, clique="demo-1-worker")
    simulation.operator.start()
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"], simulation.status()["disruptionCount"]) == ("Running", 1, 2)
    assert counted(simulation) == [(0, False), (1, True), (2, False)]


def test_what_is_said_of_the_end_stays_when_more_is_deleted_or_allowed() -> None:
    simulation = together(2, maxRestarts=1)
    before = message(simulation)
    manifest = job([clique("worker", 2)], replicas=3, maxRestarts=7)
    simulation.world.apply(manifest)
    for one in simulation.world.all(CLIQUE):
        simulation.world.delete(CLIQUE, one["metadata"]["name"])
    simulation.settle()
    assert (phase(simulation), message(simulation)) == ("Failed", before)


def test_a_failure_rule_that_ends_the_workload_counts_nothing() -> None:
    simulation = together(2, code=3, maxRestarts=5, failureRules=[{"action": "Fail", "exitCodes": [3]}])
    assert (failed_because(simulation), simulation.status()["restartCount"]) == (["FailureRule"], 0)
    assert counted(simulation) == [(0, False), (1, False)]
