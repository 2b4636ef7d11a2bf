"""What follows a failure by its exit code: a restart, the end, or a restart that costs nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from applier.ref import Manifest
from tests.features.compiling import compile_manifest
from tests.model.sets import clique
from tests.training.jobs import attempts, away, events, exit_pod, fail, failed_because, job, last_attempt, phase, pod_of, started, take

FATAL = {"action": "Fail", "exitCodes": [2, 3]}
FREE = {"action": "Ignore", "exitCodes": [75]}


def test_an_exit_code_for_which_no_restart_is_wanted_ends_the_workload() -> None:
    simulation = started(maxRestarts=5, failureRules=[FREE, FATAL])
    name = pod_of(simulation, "demo-0-worker", 0)["metadata"]["name"]
    fail(simulation, 0, 3)
    assert (phase(simulation), failed_because(simulation), simulation.status()["restartCount"]) == ("Failed", ["FailureRule"], 0)
    assert [pod["status"]["phase"] for pod in simulation.world.pods()] == ["Failed"], "what still ran is ended"
    assert simulation.world.told[-1].startswith(f"FailureRule: Replica 0 failed: pod {name}, container main, exited with 3")
    assert last_attempt(simulation)["exitCode"] == 3


def test_an_exit_code_that_is_ignored_costs_no_restart() -> None:
    simulation = started(failureRules=[FREE])
    fail(simulation, 0, 75)
    assert (phase(simulation), attempts(simulation), simulation.status()["restartCount"]) == ("Running", {"2"}, 0)
    assert last_attempt(simulation)["counted"] is False


def test_any_other_exit_code_costs_a_restart() -> None:
    simulation = started(maxRestarts=1, failureRules=[FREE, FATAL])
    fail(simulation, 0, 1)
    assert (attempts(simulation), simulation.status()["restartCount"]) == ({"2"}, 1)


def test_the_first_rule_that_fits_counts() -> None:
    simulation = started(maxRestarts=1, failureRules=[{"action": "Restart", "exitCodes": [3]}, FATAL])
    fail(simulation, 0, 3)
    assert attempts(simulation) == {"2"}


@pytest.mark.parametrize(("rule", "ends"), [({"clique": "lead"}, False), ({"clique": "rank"}, True), ({"container": "other"}, False)])
def test_a_rule_may_be_about_a_clique_or_a_container(rule: Manifest, ends: bool) -> None:
    manifest = job([clique("lead"), clique("rank", 2)], maxRestarts=1, failureRules=[FATAL | rule])
    simulation = started(manifest)
    fail(simulation, 1, 2, clique="demo-0-rank")
    assert phase(simulation) == ("Failed" if ends else "Running")


ALONE = [{"template": {"terminationDelay": "1h"}}, {"cliques": [clique("worker", 3, 2)]}]
"""Jobs of which a failed pod is replaced by itself."""


@pytest.mark.parametrize("rest", ALONE)
def test_a_pod_that_would_be_replaced_by_itself_ends_the_workload_as_well(rest: dict[str, Any]) -> None:
    simulation = started(job(maxRestarts=5, failureRules=[FREE, FATAL], **rest))
    fail(simulation, 1, 75)
    simulation.wait(20)
    assert (phase(simulation), attempts(simulation), len(simulation.world.pods())) == ("Running", {"1"}, 3)
    away(simulation, partial(exit_pod, simulation, 0, 3), seconds=60)
    simulation.settle()
    assert (phase(simulation), failed_because(simulation)) == ("Failed", ["FailureRule"])
    assert [pod["status"]["phase"] for pod in simulation.world.pods()] == ["Failed"], "it stays with its logs"


def test_what_the_cluster_takes_away_is_no_failure_of_the_program() -> None:
    simulation = started(maxRestarts=1, failureRules=[{"action": "Fail", "exitCodes": list(range(1, 256))}])
    take(simulation, 0, reason="EvictionByEvictionAPI")
    simulation.settle()
    assert (phase(simulation), attempts(simulation)) == ("Running", {"2"})


def test_success_and_time_count_before_it() -> None:
    simulation = started(maxRestarts=1, maxRuntime="10m", failureRules=[FATAL])
    simulation.operator.kill()
    simulation.machines.exit(pod_of(simulation, "demo-0-worker", 0), 2)
    simulation.machines.tick()
    simulation.operator.start()
    simulation.wait(700)
    assert len(failed_because(simulation)) == 1
    assert events(simulation).count("FailureRule") + events(simulation).count("MaxRuntimeExceeded") == 1


def test_a_clique_that_is_not_there_is_refused_with_those_that_are() -> None:
    [found] = compile_manifest(job(failureRules=[FATAL, FATAL | {"clique": "wroker"}])).diagnostics
    assert (found.path, found.value) == ("spec.trainingSpec.failureRules[1].clique", "wroker")
    assert "worker" in str(found)


@pytest.mark.parametrize(
    "rule", [{"action": "Fail", "exitCodes": []}, {"action": "Fail", "exitCodes": [0]}, {"action": "fail", "exitCodes": [1]}]
)
def test_a_rule_that_never_fits_is_refused(rule: Manifest) -> None:
    assert [one.severity for one in compile_manifest(job(failureRules=[rule])).diagnostics] == ["error"]


def test_rules_that_the_kubelet_never_lets_come_to_pass_are_a_warning() -> None:
    manifest = job(failureRules=[FATAL])
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = "OnFailure"
    assert "validate/training-failure-rules-restart-policy" in [one.code for one in compile_manifest(manifest).diagnostics]
