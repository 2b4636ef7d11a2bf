"""The register of edge cases of training workloads, E13 to E25: each is a test, which works, is refused, or says why it is left out."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.kube.timestamp import timestamp
from tests.features.compiling import compile_manifest
from tests.model.sets import clique, group
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, SET
from tests.training.jobs import (
    WORKER,
    attempts,
    away,
    causes,
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
        runs = [{"name": "main", "state": {"running": {"startedAt": timestamp(simulation.world.now)}}}]
        simulation.world.report(pod_of(simulation, WORKER, index), phase="Running", conditions=[], containerStatuses=runs)
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


def test_e21_a_pod_that_gives_up_on_one_that_starts_only_then_costs_nothing() -> None:
    """As where a quota, or the nodes, have room for one pod less than the job needs: the end of one lets the missing one start."""
    simulation = begun(maxRestarts=1)
    simulation.let_pass(300)
    exit_pod(simulation, 0, 1)
    simulation.let_pass(5)
    simulation.settle()
    assert (simulation.status()["restartCount"], attempts(simulation)) == (0, {"2"})


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
    simulation = started(job([clique("worker", 2), clique("evaluator")]))
    finish(simulation, WORKER)
    assert phase(simulation) == "Running"
    finish(simulation, "demo-0-evaluator")
    assert phase(simulation) == "Succeeded"
    assert "WorkloadSucceeded" in events(simulation)


def test_e25_cliques_that_would_serve_on_are_ended_with_those_that_success_needs() -> None:
    simulation = started(job([clique("worker", 2), clique("evaluator")], successCliques=["worker"]))
    finish(simulation, WORKER)
    assert phase(simulation) == "Succeeded"
    assert {pod["metadata"]["labels"]["grove.io/podclique"] for pod in simulation.world.pods()} == {WORKER}
