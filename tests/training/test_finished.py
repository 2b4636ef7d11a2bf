"""What is left of a workload that has ended, and of attempts that are over: pods for their logs, and sets for a while."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.simulation.world import SET
from tests.training.jobs import attempts, events, exit_pod, fail, finish, job, phase, report, started, uids


def kept(**when: bool) -> dict[str, Any]:
    return {"keepFinishedPods": when}


def test_pods_of_a_workload_that_has_succeeded_go_where_the_set_says_so() -> None:
    simulation = started(**kept(onSuccess=False))
    finish(simulation)
    assert (phase(simulation), simulation.world.pods()) == ("Succeeded", [])
    assert report(simulation)["succeededIndexes"] == "0-2", "what they came to is on record"


def test_pods_of_a_workload_that_has_failed_go_where_the_set_says_so() -> None:
    simulation = started(**kept(onFailure=False))
    fail(simulation)
    assert (phase(simulation), simulation.world.pods()) == ("Failed", [])


def test_each_end_is_said_by_itself() -> None:
    simulation = started(**kept(onFailure=False))
    finish(simulation)
    assert len(simulation.world.pods()) == 3


def test_finished_pods_of_the_attempt_before_stay_beside_the_next_one() -> None:
    simulation = started(maxRestarts=2, **kept(onRestart=True))
    exit_pod(simulation, 1)
    fail(simulation, 0, 3)
    by_attempt = {
        number: [pod for pod in simulation.world.pods() if pod["metadata"]["labels"]["grove.io/attempt"] == number] for number in "12"
    }
    assert sorted(pod["status"]["phase"] for pod in by_attempt["1"]) == ["Failed", "Succeeded"]
    assert [pod["status"]["phase"] for pod in by_attempt["2"]] == ["Running"] * 3
    assert (phase(simulation), report(simulation)["readyReplicas"]) == ("Running", 3)


def test_of_older_attempts_nothing_stays() -> None:
    simulation = started(maxRestarts=3, **kept(onRestart=True))
    for _ in range(3):
        fail(simulation)
    assert attempts(simulation) == {"3", "4"}
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_kept_pods_stay_while_an_operator_comes_and_goes() -> None:
    simulation = started(maxRestarts=2, **kept(onRestart=True))
    fail(simulation)
    before = uids(simulation)
    simulation.operator.restart()
    simulation.wait(60)
    assert uids(simulation) == before


def test_a_workload_is_deleted_a_while_after_its_end() -> None:
    manifest = job()
    manifest["spec"]["ttlSecondsAfterFinished"] = 300
    simulation = started(manifest)
    simulation.wait(900)
    finish(simulation)
    simulation.wait(280)
    assert simulation.world.find(SET, "demo") is not None
    simulation.wait(30)
    assert simulation.world.find(SET, "demo") is None
    assert simulation.world.pods() == []


def test_a_workload_that_has_failed_is_so_too() -> None:
    manifest = job()
    manifest["spec"]["ttlSecondsAfterFinished"] = 0
    simulation = started(manifest)
    fail(simulation)
    simulation.wait(5)
    assert simulation.world.find(SET, "demo") is None


def test_a_service_never_finishes() -> None:
    manifest = job()
    manifest["spec"] = {**manifest["spec"], "workloadType": "Inference", "ttlSecondsAfterFinished": 5}
    del manifest["spec"]["trainingSpec"]
    manifest["spec"]["template"]["terminationDelay"] = "4h"
    assert [one.path for one in compile_manifest(manifest).diagnostics] == ["spec.ttlSecondsAfterFinished"]


def test_nobody_is_told_to_wait_for_ranks_that_have_finished() -> None:
    manifest = job([clique("lead"), clique("rank", 3)])
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2)]
    simulation = started(manifest)
    exit_pod(simulation, 0, clique="demo-0-lead")
    exit_pod(simulation, 1, clique="demo-0-ranks-0-rank")
    simulation.settle()
    simulation.wait(120)
    assert (phase(simulation), pending(simulation), events(simulation)) == ("Running", [], [])


def pending(simulation: Simulation) -> list[Manifest]:
    """The condition that says what a set waits for, where it does."""
    return [one for one in simulation.status().get("conditions", []) if (one["type"], one["status"]) == ("WhyPending", "True")]
