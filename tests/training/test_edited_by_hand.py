"""Statuses and labels that somebody has emptied or edited: pods that run go on in their attempt, and what is done stays done."""

from __future__ import annotations

import pytest

from applier.ref import Kind, Manifest
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD, SET
from tests.training.jobs import WORKER, attempts, causes, events, exit_pod, fail, finish, job, phase, pod_of, started, uids


def write_status(simulation: Simulation, kind: Kind, name: str, status: Manifest) -> None:
    """Somebody writes another status, as `kubectl patch --subresource=status` does, and what follows happens."""
    simulation.world.put({**simulation.world.get(kind, name), "status": status})
    simulation.settle()
    simulation.wait(60)


@pytest.mark.parametrize("status", [{}, {"trainingReplicas": [{"index": 0, "attempt": 1, "phase": "Running"}]}], ids=["emptied", "edited"])
def test_pods_of_a_later_attempt_go_on_where_the_status_of_their_set_does_not_know_it(status: Manifest) -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    pods = uids(simulation)
    write_status(simulation, SET, "demo", status)
    assert (uids(simulation), attempts(simulation), phase(simulation)) == (pods, {"2"}, "Running")
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_pods_of_a_later_attempt_go_on_where_nobody_reports_it_any_more() -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    pods = uids(simulation)
    simulation.operator.kill()
    for kind, name in [(CLIQUE, WORKER), (SET, "demo")]:
        simulation.world.put({**simulation.world.get(kind, name), "status": {}})
    simulation.operator.restart()
    simulation.settle()
    simulation.wait(60)
    assert (uids(simulation), attempts(simulation), phase(simulation)) == (pods, {"2"}, "Running")


def test_a_job_that_has_succeeded_in_a_later_attempt_does_not_run_again_without_its_status() -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    finish(simulation)
    pods = uids(simulation)
    write_status(simulation, SET, "demo", {})
    assert (uids(simulation), phase(simulation)) == (pods, "Succeeded")


def test_nobody_waits_for_longer_than_the_backoff_of_a_set_allows() -> None:
    """The clock of the operator that recorded the end of the wait was ahead, or somebody has written it."""
    simulation = started(maxRestarts=3, restartBackoff={"initial": "20m", "maximum": "30m"})
    fail(simulation)
    status = simulation.status()
    entry = {**status["trainingReplicas"][0], "backoffUntil": "2199-01-01T00:00:00Z"}
    assert attempts(simulation) == set()
    write_status(simulation, SET, "demo", {**status, "trainingReplicas": [entry]})
    assert attempts(simulation) == {"2"}


def test_pods_of_a_podclique_go_on_without_its_status() -> None:
    simulation = started(maxRestarts=2)
    pods = uids(simulation)
    write_status(simulation, CLIQUE, WORKER, {})
    assert (uids(simulation), causes(simulation)) == (pods, [])
    assert "PodCliqueFailed" not in events(simulation)


def test_an_attempt_that_no_pod_was_made_for_is_none_whatever_somebody_has_a_podclique_report() -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    pods = uids(simulation)
    write_status(simulation, CLIQUE, WORKER, {**simulation.status(CLIQUE, WORKER), "attempt": 7})
    assert (uids(simulation), attempts(simulation), causes(simulation)) == (pods, {"2"}, ["PodFailed"])


def test_a_finished_rank_that_nobody_remembers_any_more_is_not_made_alone() -> None:
    simulation = started(maxRestarts=2)
    exit_pod(simulation, 0)
    simulation.settle()
    simulation.world.delete(POD, pod_of(simulation, WORKER, 0)["metadata"]["name"])
    simulation.settle()
    simulation.operator.restart()
    write_status(simulation, CLIQUE, WORKER, {})
    assert (attempts(simulation), causes(simulation)) == ({"2"}, ["PodCliqueDeleted"])


def test_a_job_that_is_made_anew_over_what_it_has_orphaned_goes_on_in_its_attempt() -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    pods = uids(simulation)
    simulation.world.delete(SET, "demo", "Orphan")
    simulation.world.apply(job(maxRestarts=2))
    simulation.settle()
    assert (uids(simulation), phase(simulation), attempts(simulation)) == (pods, "Running", {"2"})


def test_what_belongs_to_a_set_of_the_same_name_says_nothing_about_the_attempt() -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    simulation.world.delete(SET, "demo")
    simulation.world.apply(job(maxRestarts=2))  # before the garbage collector comes
    simulation.settle()
    simulation.wait(60)
    assert (phase(simulation), attempts(simulation)) == ("Running", {"1"})


@pytest.mark.parametrize("label", [None, "x", "2", "7"])
def test_so_does_one_of_a_job_that_has_replaced_another_one(label: str | None) -> None:
    """Its pods do not have the names that the former ones had, and that others of their attempt have."""
    simulation = started(maxRestarts=2)
    names = {pod["metadata"]["name"] for pod in simulation.world.pods()}
    simulation.world.delete(SET, "demo")
    simulation.settle()
    simulation.world.apply(job(maxRestarts=2))
    simulation.settle()
    simulation.wait(60)
    pods, pod = uids(simulation), pod_of(simulation, WORKER, 0)
    assert pod["metadata"]["name"] not in names
    labels = {**pod["metadata"]["labels"], "grove.io/attempt": label}
    simulation.world.put({**pod, "metadata": {**pod["metadata"], "labels": {key: value for key, value in labels.items() if value}}})
    simulation.settle()
    assert (uids(simulation), attempts(simulation), causes(simulation)) == (pods, {"1"}, [])


@pytest.mark.parametrize("label", [None, "x", "1", "7"])
def test_a_pod_whose_attempt_somebody_has_written_over_goes_on_and_gets_its_label_back(label: str | None) -> None:
    simulation = started(maxRestarts=2)
    fail(simulation)
    pods, pod = uids(simulation), pod_of(simulation, WORKER, 0)
    labels = {**pod["metadata"]["labels"], "grove.io/attempt": label}
    simulation.world.put({**pod, "metadata": {**pod["metadata"], "labels": {key: value for key, value in labels.items() if value}}})
    simulation.settle()
    assert (uids(simulation), attempts(simulation), causes(simulation)) == (pods, {"2"}, ["PodFailed"])


@pytest.mark.parametrize("field", [{"suspendTime": "2027-01-15T08:00:30Z"}, {"completionTime": "2027-01-15T08:00:30Z"}])
def test_a_field_of_the_status_that_somebody_else_has_written_goes_away(field: Manifest) -> None:
    simulation = started(maxRestarts=2, maxRuntime="10m")
    pods = uids(simulation)
    write_status(simulation, SET, "demo", {**simulation.status(), **field})
    assert (uids(simulation), phase(simulation)) == (pods, "Running")
    assert not field.keys() & simulation.status().keys()


def test_a_failure_that_somebody_else_has_written_restarts_a_replica_once() -> None:
    simulation = started(maxRestarts=2)
    failure = {"cause": "PodFailed", "time": "2027-01-15T08:00:30Z", "early": True}
    write_status(simulation, CLIQUE, WORKER, {**simulation.status(CLIQUE, WORKER), "failure": failure})
    assert (attempts(simulation), phase(simulation), causes(simulation)) == ({"2"}, "Running", ["PodFailed"])
