"""The register of edge cases of training workloads, E1 to E12: each is a test, which works, is refused, or says why it is left out."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from applier.ref import Manifest
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.simulation.world import POD
from tests.training.jobs import (
    WORKER,
    attempts,
    away,
    causes,
    exit_pod,
    fail,
    failed_because,
    finish,
    job,
    phase,
    pod_of,
    report,
    started,
    take,
    uids,
)

CASES = [*range(1, 26)]


def test_each_edge_case_has_a_test_that_bears_its_number() -> None:
    texts = (path.read_text() for path in Path(__file__).parent.glob("test_register_*.py"))
    numbers = {int(number) for text in texts for number in re.findall(r"^def test_e(\d+)_", text, re.MULTILINE)}
    assert sorted(numbers) == CASES


def test_each_edge_case_is_told_in_the_documentation_with_what_follows() -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")
    rows = re.findall(r"^\| E(\d+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == CASES


def test_e1_pods_that_fail_at_the_same_time_cost_one_restart() -> None:
    simulation = started(maxRestarts=5)
    for index in range(3):
        exit_pod(simulation, index, 1)
    simulation.settle()
    assert (simulation.status()["restartCount"], causes(simulation)) == (1, ["PodFailed"])


def test_e1_a_failure_that_is_seen_again_later_counts_for_the_attempt_that_is_over() -> None:
    simulation = started(maxRestarts=5)
    exit_pod(simulation, 0, 1)
    simulation.machines.lost.update(pod["metadata"]["uid"] for pod in simulation.world.pods())  # they do not go for a while
    simulation.settle()
    exit_pod(simulation, 1, 1) if simulation.world.pods() else None
    simulation.operator.restart()
    simulation.settle()
    assert simulation.status()["restartCount"] == 1
    simulation.machines.lost.clear()
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def killed_when(simulation: Simulation, is_time: Any) -> None:
    """Kills the operator after the first write for which something is true, and lets another one go on."""

    def look(_: str) -> None:
        if is_time():
            simulation.operator.writes_left = 0
            simulation.operator.after_write = lambda _: None

    simulation.operator.after_write = look


def test_e2_whoever_dies_after_counting_does_not_count_twice() -> None:
    simulation = started(maxRestarts=5)
    killed_when(simulation, lambda: simulation.status().get("restartCount") == 1)
    fail(simulation)
    assert simulation.operator.processes == 2
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def test_e3_nothing_is_deleted_before_it_is_counted() -> None:
    simulation = started(maxRestarts=5)
    counted: list[int] = []  # at each deletion, which alone has a reason
    simulation.operator.after_write = lambda reason: counted.append(simulation.status()["restartCount"]) if reason else None
    fail(simulation)
    assert counted == [1, 1, 1]


def test_e4_a_pod_that_somebody_deletes_before_it_has_finished_is_a_failure() -> None:
    simulation = started(maxRestarts=1)
    take(simulation, 1)
    simulation.settle()
    assert (causes(simulation), simulation.status()["restartCount"]) == (["PodDeleted"], 1)
    assert attempts(simulation) == {"2"}


def test_e4_a_pod_that_ends_well_because_it_was_asked_to_go_has_not_finished() -> None:
    simulation = started(maxRestarts=1)
    name = pod_of(simulation, WORKER, 1)["metadata"]["name"]
    simulation.machines.lost.add(pod_of(simulation, WORKER, 1)["metadata"]["uid"])
    take(simulation, 1)
    simulation.let_pass(5)
    simulation.machines.exit(simulation.world.get(POD, name))
    simulation.machines.lost.clear()
    simulation.settle()
    assert causes(simulation) == ["PodDeleted"]


def test_e5_what_the_cluster_takes_away_has_a_count_of_its_own() -> None:
    simulation = started(maxRestarts=1, ignoreDisruptions=True)
    for _ in range(3):
        take(simulation, 0, reason="DeletionByTaintManager")
        simulation.settle()
    assert (simulation.status()["disruptionCount"], simulation.status()["restartCount"], phase(simulation)) == (3, 0, "Running")


def test_e5_peers_that_fail_because_of_an_eviction_are_not_what_failed() -> None:
    simulation = started(ignoreDisruptions=True)
    away(simulation, partial(take, simulation, 2, reason="EvictionByEvictionAPI"), partial(exit_pod, simulation, 0, 1))
    simulation.settle()
    assert (causes(simulation), phase(simulation)) == (["PodDisrupted"], "Running")


def tolerant(**template: Any) -> Simulation:
    """A job of three workers that can do without one."""
    return started(job([clique("worker", 3, 2)], template=template, maxRestarts=1))


def test_e6_a_failed_pod_of_a_clique_that_can_do_without_is_replaced_by_itself() -> None:
    simulation = tolerant()
    kept = uids(simulation) - {pod_of(simulation, WORKER, 2)["metadata"]["uid"]}
    fail(simulation, 2)
    simulation.wait(15)
    simulation.settle()
    assert kept < uids(simulation)
    assert len(uids(simulation)) == 3
    assert simulation.status()["restartCount"] == 0
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_e6_below_what_it_needs_the_whole_replica_is_restarted() -> None:
    simulation = tolerant()
    exit_pod(simulation, 1, 1)
    exit_pod(simulation, 2, 1)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def test_e6_success_needs_every_pod() -> None:
    simulation = tolerant()
    exit_pod(simulation, 0)
    exit_pod(simulation, 1)
    simulation.settle()
    assert phase(simulation) == "Running"


def test_e6_with_a_delay_a_gap_is_mended_and_only_one_that_lasts_restarts() -> None:
    simulation = started(job(template={"terminationDelay": "5m"}, maxRestarts=1))
    fail(simulation)
    simulation.wait(15)
    simulation.settle()
    assert (simulation.status()["restartCount"], len(uids(simulation)), attempts(simulation)) == (0, 3, {"1"})
    simulation.machines.room = 2
    fail(simulation)
    simulation.wait(15)
    simulation.wait(301)
    assert (simulation.status()["restartCount"], causes(simulation)) == (1, ["MinAvailableBreached"])


def test_e7_pods_that_finish_one_after_the_other_are_no_shortage() -> None:
    simulation = started()
    for index in range(2):
        exit_pod(simulation, index)
        simulation.wait(600)
        breached = [one["status"] for one in report(simulation)["conditions"] if one["type"] == "MinAvailableBreached"]
        assert breached == ["False"]
    assert phase(simulation) == "Running"


def test_e8_a_finished_pod_that_is_deleted_later_does_not_run_again() -> None:
    simulation = started()
    exit_pod(simulation, 0)
    simulation.settle()
    take(simulation, 0)
    simulation.operator.restart()
    simulation.settle()
    assert sorted(pod["spec"]["hostname"] for pod in simulation.world.pods()) == [f"{WORKER}-1", f"{WORKER}-2"]
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_e9_who_has_finished_all_pods_is_done_though_the_time_is_over() -> None:
    simulation = started(maxRuntime="10m")
    away(simulation, *(partial(exit_pod, simulation, index) for index in range(3)), seconds=900)
    simulation.settle()
    assert phase(simulation) == "Succeeded"


def test_e9_the_time_counts_before_the_budget() -> None:
    simulation = started(maxRuntime="10m")
    away(simulation, partial(exit_pod, simulation, 0, 1), seconds=900)
    simulation.settle()
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]


def test_e9_an_end_is_for_ever() -> None:
    simulation = started()
    fail(simulation)

    def allow(set: Manifest) -> None:
        set["spec"]["trainingSpec"] = {"maxRestarts": 9}

    simulation.edit(allow)
    for pod in simulation.world.pods():
        simulation.world.report(pod, phase="Succeeded")
    simulation.settle()
    assert (phase(simulation), failed_because(simulation)) == ("Failed", ["MaxRestartsExceeded"])


def test_e10_a_leader_that_exits_with_0_ends_its_workers_where_the_set_says_so() -> None:
    simulation = started(job([clique("lead"), clique("worker", 2)], successCliques=["lead"]))
    finish(simulation, "demo-0-lead")
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Succeeded", 0)
    assert [pod["spec"]["hostname"] for pod in simulation.world.pods()] == ["demo-0-lead-0"]


def test_e10_without_a_word_success_needs_the_workers_too() -> None:
    simulation = started(job([clique("lead"), clique("worker", 2)]))
    finish(simulation, "demo-0-lead")
    assert phase(simulation) == "Running"


def test_e11_the_unit_of_a_restart_is_the_replica_of_the_set() -> None:
    """Also where a replica of a scaling group is a gang of its own: its pods work with all others."""
    manifest = job([clique("lead"), clique("rank")], maxRestarts=1)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 3, 1)]
    simulation = started(manifest)
    before = uids(simulation)
    fail(simulation, clique="demo-0-ranks-2-rank")
    assert not before & uids(simulation)


def test_e12_there_is_one_budget_and_none_below_it() -> None:
    manifest = job([clique("lead"), clique("rank")], replicas=2, maxRestarts=2)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2)]
    simulation = started(manifest)
    for where in ("demo-0-lead", "demo-1-ranks-1-rank", "demo-0-ranks-0-rank"):
        fail(simulation, clique=where)
    assert (simulation.status()["restartCount"], failed_because(simulation)) == (2, ["MaxRestartsExceeded"])


def test_e12_a_budget_of_a_part_is_refused() -> None:
    manifest = job([clique("lead"), clique("rank")])
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2) | {"maxRestarts": 1}]
    assert [one.path for one in compile_manifest(manifest).diagnostics] == ["spec.template.podCliqueScalingGroups[0].maxRestarts"]
