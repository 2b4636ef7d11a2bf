"""Somebody asks for new attempts of a job: those that run end without a failure, and it does not count as a restart."""

from __future__ import annotations

from functools import partial

from applier.ref import Manifest
from tests.simulation.simulation import Simulation
from tests.training.jobs import attempts, away, causes, events, exit_pod, fail, finish, job, phase, started, uids
from tests.training.test_suspend import all_finish, suspend
from tests.training.watch import moments_of, watched_job


def restart(simulation: Simulation, at: str = "2026-11-23T10:00:00Z") -> None:
    """Somebody asks for new attempts."""

    def edit(set: Manifest) -> None:
        set["spec"]["trainingSpec"] = {**set["spec"]["trainingSpec"], "restartedAt": at}

    simulation.edit(edit)


def test_a_request_begins_new_attempts_and_costs_no_restart() -> None:
    simulation = started()
    before = uids(simulation)
    restart(simulation)
    simulation.settle()
    assert not before & uids(simulation)
    assert (attempts(simulation), phase(simulation)) == ({"2"}, "Running")
    assert (simulation.status()["restartCount"], causes(simulation)) == (0, ["Restarted"])
    assert "RestartRequested" in events(simulation)


def test_what_had_finished_before_the_request_does_not_run_again() -> None:
    simulation = started(job(replicas=2))
    away(simulation, partial(all_finish, simulation, "demo-0"), partial(restart, simulation))
    simulation.settle()
    assert causes(simulation) == ["Succeeded", "Restarted"]
    away(simulation, partial(all_finish, simulation), partial(restart, simulation, "2026-11-23T11:00:00Z"))
    simulation.settle()
    assert (phase(simulation), causes(simulation)) == ("Succeeded", ["Succeeded", "Restarted", "Succeeded"])


def test_the_same_request_is_carried_out_once_and_another_one_again() -> None:
    simulation = started()
    restart(simulation)
    simulation.settle()
    away(simulation, partial(restart, simulation), seconds=60)
    simulation.settle()
    assert attempts(simulation) == {"2"}
    restart(simulation, "2026-11-23T11:00:00Z")
    simulation.settle()
    assert attempts(simulation) == {"3"}


def test_a_job_that_is_made_with_a_request_begins_with_its_first_attempt() -> None:
    assert attempts(started(restartedAt="2026-11-23T10:00:00Z")) == {"1"}


def test_a_replica_that_is_done_stays_so() -> None:
    simulation = started(job(replicas=2))
    finish(simulation, "demo-0-worker")
    restart(simulation)
    simulation.settle()
    assert [(one["attempt"], one["phase"]) for one in simulation.status()["trainingReplicas"]] == [(1, "Succeeded"), (2, "Running")]


def test_what_has_ended_is_not_begun_anew() -> None:
    simulation = started()
    fail(simulation)
    before = uids(simulation)
    restart(simulation)
    simulation.settle()
    assert (phase(simulation), uids(simulation)) == ("Failed", before)


def test_a_suspended_job_waits_until_it_is_resumed() -> None:
    simulation = started()
    suspend(simulation)
    simulation.settle()
    restart(simulation)
    simulation.settle()
    assert simulation.world.pods() == []
    suspend(simulation, to=False)
    simulation.settle()
    assert attempts(simulation) == {"2"}


def test_a_failure_that_is_seen_together_with_a_request_ends_one_attempt() -> None:
    simulation = started(maxRestarts=1)
    away(simulation, partial(exit_pod, simulation, 0, 1), partial(restart, simulation))
    simulation.settle()
    assert (attempts(simulation), len(causes(simulation))) == ({"2"}, 1)


def test_a_crash_after_any_write_changes_nothing_about_the_end() -> None:
    simulation = watched_job(started())
    moments = moments_of(simulation)
    restart(simulation)
    simulation.settle()
    assert len(moments) >= 5
    for number, moment in enumerate(moments, 1):
        after = watched_job(Simulation(simulation.operator.context, moment=moment))
        after.settle()
        assert (attempts(after), len(after.world.pods())) == ({"2"}, 3), f"after write {number}"
        after.close()
