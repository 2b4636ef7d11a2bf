"""A replica that is done when its leader is: what its workers still run is ended, and costs nothing."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.training.jobs import attempts, exit_pod, fail, finish, job, phase, started
from tests.training.watch import moments_of, watched_job


def led(replicas: int = 1, **limits: Any) -> Manifest:
    """A leader, and two groups of two ranks, which end when the leader does."""
    manifest = job([clique("lead"), clique("rank", 2)], replicas=replicas, successCliques=["lead"], **limits)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2)]
    return manifest


def names(simulation: Simulation) -> list[str]:
    return [pod["metadata"]["name"].rpartition("-")[0] for pod in simulation.world.pods()]


def test_a_workload_has_succeeded_when_its_leader_has() -> None:
    simulation = started(led())
    finish(simulation, "demo-0-lead")
    assert phase(simulation) == "Succeeded"
    assert names(simulation) == ["demo-0-lead"], "what still ran is ended"
    assert simulation.status()["restartCount"] == 0


def test_a_replica_whose_leader_is_done_ends_while_another_one_runs() -> None:
    simulation = started(led(replicas=2))
    finish(simulation, "demo-0-lead")
    assert phase(simulation) == "Running"
    assert [one for one in names(simulation) if one.startswith("demo-0")] == ["demo-0-lead"]
    assert len([one for one in names(simulation) if one.startswith("demo-1")]) == 5
    finish(simulation, "demo-1-lead")
    assert phase(simulation) == "Succeeded"


def test_that_all_workers_are_done_is_no_success() -> None:
    simulation = started(led())
    finish(simulation, "demo-0-ranks")
    assert phase(simulation) == "Running"


def test_a_worker_that_fails_restarts_all() -> None:
    simulation = started(led(maxRestarts=1))
    fail(simulation, 1, clique="demo-0-ranks-0-rank")
    assert (attempts(simulation), phase(simulation)) == ({"2"}, "Running")


def test_workers_that_fail_once_their_leader_is_done_have_not_failed() -> None:
    simulation = started(led())
    exit_pod(simulation, 0, 0, clique="demo-0-lead")
    exit_pod(simulation, 1, 1, clique="demo-0-ranks-1-rank")
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Succeeded", 0)


def test_a_crash_after_any_write_changes_nothing_about_the_end() -> None:
    simulation = watched_job(started(led(replicas=2)))
    moments = moments_of(simulation)
    finish(simulation, "demo-0-lead")
    assert len(moments) >= 5
    for number, moment in enumerate(moments, 1):
        after = watched_job(Simulation(simulation.operator.context, moment=moment))
        after.settle()
        assert (len(after.world.pods()), phase(after)) == (6, "Running"), f"after write {number}"
        after.close()


def test_a_clique_that_is_not_there_is_refused() -> None:
    found = compile_manifest(job(successCliques=["worker", "leader"])).diagnostics
    assert [(one.code, one.path) for one in found] == [("validate/training-clique-names", "spec.trainingSpec.successCliques[1]")]
