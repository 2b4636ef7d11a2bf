"""A replica that fails again and again waits before each attempt, twice as long each time, up to a limit."""

from __future__ import annotations

from functools import partial

import pytest

from applier.ref import Manifest
from grove_compiler.kube.timestamp import time
from tests.features.compiling import compile_manifest
from tests.simulation.simulation import Simulation
from tests.training.jobs import attempts, away, exit_pod, fail, failed_because, job, last_attempt, phase, started
from tests.training.test_restart_request import restart

BACKOFF = {"initial": "20s", "maximum": "60s"}


def replica(simulation: Simulation, index: int = 0) -> Manifest:
    entry: Manifest = simulation.status()["trainingReplicas"][index]
    return entry


def waits(simulation: Simulation) -> None:
    """Lets time pass until the pods of the next attempt are there."""
    for _ in range(300):
        if simulation.world.pods():
            return
        simulation.wait(1)
    raise AssertionError("the next attempt does not begin")


def test_without_a_backoff_the_next_attempt_begins_at_once() -> None:
    simulation = started(maxRestarts=1)
    fail(simulation)
    assert attempts(simulation) == {"2"}
    assert "failuresInARow" not in replica(simulation)


def test_the_wait_doubles_up_to_the_longest_one() -> None:
    simulation = started(maxRestarts=9, restartBackoff=BACKOFF)
    seen = []
    for _ in range(4):
        fail(simulation)
        assert (simulation.world.pods(), phase(simulation)) == ([], "Pending")
        until, failed = time(replica(simulation)["backoffUntil"]), time(last_attempt(simulation)["endTime"])
        assert until is not None and failed is not None
        seen.append(until - failed)
        waits(simulation)
        assert simulation.world.now >= until
    assert [wait <= one <= wait + 10 for wait, one in zip((20, 40, 60, 60), seen, strict=True)] == [True] * 4, seen
    assert replica(simulation)["failuresInARow"] == 4


def test_the_status_says_until_when_it_waits_and_an_event_for_how_long() -> None:
    simulation = started(maxRestarts=3, restartBackoff={"initial": "5m"})
    fail(simulation)
    assert replica(simulation)["backoffUntil"] > simulation.status()["attempts"][-1]["endTime"]
    assert simulation.world.told[-1].endswith("restart 1 of 3, after a back-off of 300s")


def test_an_attempt_that_ran_for_long_begins_the_count_anew() -> None:
    simulation = started(maxRestarts=9, restartBackoff=BACKOFF)
    for _ in range(2):
        fail(simulation)
        waits(simulation)
    simulation.wait(120)
    fail(simulation)
    assert replica(simulation)["failuresInARow"] == 1


def test_another_replica_does_not_wait_with_it() -> None:
    simulation = started(job(replicas=2, maxRestarts=3, restartBackoff=BACKOFF))
    fail(simulation)
    assert {pod["metadata"]["name"][:6] for pod in simulation.world.pods()} == {"demo-1"}


def test_an_operator_that_was_away_does_not_make_it_wait_longer() -> None:
    simulation = started(maxRestarts=3, restartBackoff=BACKOFF)
    fail(simulation)
    away(simulation, seconds=60)
    simulation.settle()
    assert attempts(simulation) == {"2"}


def test_time_goes_on_while_it_waits() -> None:
    simulation = started(maxRestarts=3, maxRuntime="3m", restartBackoff={"initial": "10m"})
    fail(simulation)
    simulation.wait(300)
    assert (failed_because(simulation), simulation.world.pods()) == (["MaxRuntimeExceeded"], [])


def test_whoever_asks_for_a_restart_does_not_wait() -> None:
    simulation = started(maxRestarts=3, restartBackoff={"initial": "1h", "maximum": "1h"})
    fail(simulation)
    restart(simulation)
    simulation.settle()
    assert attempts(simulation) == {"3"}


def test_a_crash_while_it_waits_changes_nothing() -> None:
    simulation = started(maxRestarts=3, restartBackoff=BACKOFF)
    away(simulation, partial(exit_pod, simulation, 0, 1))
    simulation.settle()
    until = replica(simulation)["backoffUntil"]
    away(simulation)
    simulation.settle()
    assert (replica(simulation)["backoffUntil"], simulation.world.pods()) == (until, [])


@pytest.mark.parametrize("backoff", [{"initial": "0s"}, {"initial": "2m", "maximum": "1m"}, {"initial": "1h"}])
def test_a_wait_that_makes_no_sense_is_refused(backoff: Manifest) -> None:
    found = compile_manifest(job(restartBackoff=backoff)).diagnostics
    assert [(one.code, one.path) for one in found] == [("validate/training-backoff", "spec.trainingSpec.restartBackoff")]
