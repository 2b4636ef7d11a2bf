"""The register of edge cases of training workloads, E1 to E25: each is a test here, which works, is refused, or says why it is left out."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from grove_compiler.graph.diagnostic import has_errors
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, group
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, SET
from tests.training.jobs import (
    WORKER,
    attempts,
    away,
    events,
    exit_pod,
    fail,
    failed_because,
    finish,
    job,
    last_attempt,
    phase,
    pod_of,
    report,
    started,
    take,
    uids,
)


def test_each_edge_case_has_a_test() -> None:
    names = re.findall(r"^def test_e(\d+)_", Path(__file__).read_text(), re.MULTILINE)
    assert sorted({int(number) for number in names}) == [*range(1, 26)]


def causes(simulation: Simulation) -> list[str]:
    return [one["cause"] for one in simulation.status().get("attempts", [])]


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
    counted: list[int] = []
    simulation.operator.after_write = lambda reason: counted.append(simulation.status()["restartCount"]) if reason == "Restart" else None
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


def test_e10_success_by_the_leader_alone_is_not_offered() -> None:
    """Out of scope: success needs all pods, as in the design. A field for it is refused as unknown, and so is never silently ignored."""
    findings = compile_manifest(job(successPolicy={"leader": "worker"})).diagnostics
    assert [one.path for one in findings] == ["spec.trainingSpec.successPolicy"]


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


def test_e13_a_number_that_got_past_admission_changes_nothing() -> None:
    manifest = job([clique("lead"), clique("rank", 2)], maxRestarts=1)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2)]
    simulation = started(manifest)
    before = uids(simulation)
    simulation.edit(replicas(5), kind=CLIQUE, name="demo-0-lead")
    simulation.edit(replicas(1), kind=GROUP, name="demo-0-ranks")
    simulation.settle()
    assert uids(simulation) == before


def test_e13_a_template_that_got_past_admission_replaces_no_pod() -> None:
    simulation = started()
    before = uids(simulation)
    simulation.edit(image("new", 0))
    simulation.settle()
    assert uids(simulation) == before


def test_e14_the_time_that_pods_wait_for_nodes_does_not_count() -> None:
    simulation = Simulation(room=0)
    simulation.world.apply(job(maxRuntime="10m"))
    simulation.settle()
    simulation.wait(3600)
    assert phase(simulation) == "Pending"
    simulation.machines.room = 3
    simulation.settle()
    assert phase(simulation) == "Running"
    simulation.wait(601)
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]


def test_e15_a_deadline_that_passed_while_nobody_looked_counts_before_anything_is_made() -> None:
    simulation = started(maxRuntime="10m", maxRestarts=5)
    stuck = pod_of(simulation, WORKER, 1)["metadata"]["uid"]
    simulation.machines.lost.add(stuck)
    fail(simulation)  # the next attempt waits for a pod that does not go
    away(simulation, simulation.machines.lost.clear, simulation.machines.tick, seconds=900)
    made: list[int] = []
    simulation.operator.after_write = lambda _: made.append(len(simulation.world.pods()))
    simulation.settle()
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]
    assert max(made) == 0


def test_e16_a_deadline_during_a_restart_ends_it() -> None:
    simulation = started(maxRuntime="10m", maxRestarts=5)
    simulation.machines.lost.add(pod_of(simulation, WORKER, 1)["metadata"]["uid"])
    fail(simulation)
    simulation.wait(601)
    simulation.machines.lost.clear()
    simulation.settle()
    assert (failed_because(simulation), simulation.world.pods()) == (["MaxRuntimeExceeded"], [])


@pytest.mark.parametrize("code", [0, 1])
def test_e17_what_has_ended_makes_no_pod_again(code: int) -> None:
    simulation = started()
    for index in range(3):
        exit_pod(simulation, index, code)
    simulation.settle()
    ended = phase(simulation)
    for pod in simulation.world.pods():
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.world.delete(CLIQUE, WORKER)
    simulation.operator.restart()
    simulation.settle()
    assert (phase(simulation), simulation.world.pods()) == (ended, [])


def test_e18_a_workload_of_the_same_name_begins_anew() -> None:
    simulation = started(maxRestarts=1)
    fail(simulation)
    simulation.world.delete(SET, "demo")
    simulation.settle()
    simulation.world.apply(job(maxRestarts=1))
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"], attempts(simulation)) == ("Running", 0, {"1"})


def test_e19_a_count_that_was_worked_out_from_an_old_view_is_not_written() -> None:
    from tests.simulation.schedules import Late

    simulation = started(maxRestarts=5)
    Late("PodCliqueSet", 50).happen(simulation)
    fail(simulation)
    simulation.let_pass(6)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def test_e20_whoever_waits_for_a_pod_that_does_not_go_is_told_which() -> None:
    simulation = started(maxRestarts=1)
    stuck = pod_of(simulation, WORKER, 1)["metadata"]
    simulation.machines.lost.add(stuck["uid"])
    fail(simulation)
    simulation.wait(200)
    told = [one for one in simulation.world.told if one.startswith("RestartWaits")]
    assert len(told) == 1
    assert stuck["name"] in told[0]


def held_up(simulation: Simulation, index: int) -> None:
    """A pod has a node, and its image is not there."""
    pod = pod_of(simulation, WORKER, index)
    waiting = {"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}
    simulation.world.report(pod, phase="Pending", containerStatuses=[waiting])


def begun(**limits: Any) -> Simulation:
    """A job of which worker 2 still waits for its image, while the others run."""
    simulation = Simulation()
    simulation.world.apply(job(**limits))
    for _ in range(20):
        simulation.run_operator()
        if len(pods := simulation.world.pods()) == 3 and all(pod["spec"].get("nodeName") for pod in pods):
            break
        simulation.machines.tick()
    for index in range(2):
        simulation.world.report(pod_of(simulation, WORKER, index), phase="Running", conditions=[], containerStatuses=[])
    held_up(simulation, 2)
    simulation.run_operator()
    return simulation


def test_e21_a_pod_that_gave_up_on_one_that_started_late_costs_nothing() -> None:
    simulation = begun()
    exit_pod(simulation, 0, 1)
    simulation.run_operator()
    assert phase(simulation) == "Pending", "nobody can tell yet why it failed"
    simulation.let_pass(300)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation), phase(simulation)) == (0, {"2"}, "Running")
    assert last_attempt(simulation)["counted"] is False


def test_e21_a_pod_that_fails_while_the_others_start_costs_a_restart() -> None:
    simulation = begun(maxRestarts=1)
    exit_pod(simulation, 0, 1)
    simulation.let_pass(5)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (1, {"2"})


def test_e21_a_pod_that_goes_before_all_have_run_is_made_again() -> None:
    simulation = begun()
    take(simulation, 2)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation), phase(simulation)) == (0, {"1"}, "Running")


def test_e22_a_pod_that_is_gone_without_a_trace_is_a_failure_once_that_is_sure() -> None:
    """Nobody else makes pods of a rank again, so that absence says enough, if it lasts."""
    simulation = started(maxRestarts=1)
    away(simulation, partial(take, simulation, 1), simulation.machines.tick)
    simulation.run_operator()
    assert "lostSince" in report(simulation)
    assert (simulation.status()["restartCount"], len(uids(simulation))) == (0, 2)
    simulation.wait(11)
    assert (causes(simulation), attempts(simulation)) == (["PodLost"], {"2"})


def test_e23_an_init_container_that_fails_counts_and_is_named() -> None:
    simulation = started()
    ended = {"name": "check", "state": {"terminated": {"exitCode": 4}}}
    simulation.world.report(pod_of(simulation, WORKER, 0), phase="Failed", initContainerStatuses=[ended], containerStatuses=[])
    simulation.settle()
    assert failed_because(simulation) == ["MaxRestartsExceeded"]
    assert (last_attempt(simulation)["container"], last_attempt(simulation)["exitCode"]) == ("init container check", 4)


def test_e24_a_set_is_a_job_as_a_whole_or_not_at_all() -> None:
    """Out of scope: a workload type of a clique's own. It is refused as unknown; two sets, one of each kind, do the same."""
    manifest = job()
    manifest["spec"]["template"]["cliques"][0]["spec"]["workloadType"] = "Inference"
    result = compile_manifest(manifest)
    assert has_errors(result.diagnostics)


def test_e25_a_job_is_done_when_every_clique_is() -> None:
    """Out of scope with E24: there are no cliques that serve on, so that none has to be drained."""
    simulation = started(job([clique("worker", 2), clique("evaluator")]))
    finish(simulation, WORKER)
    assert phase(simulation) == "Running"
    finish(simulation, "demo-0-evaluator")
    assert phase(simulation) == "Succeeded"
    assert "WorkloadSucceeded" in events(simulation)
