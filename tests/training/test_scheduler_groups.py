"""What KAI and Volcano are told that a gang needs: ranks that have finished are not waited for, and nothing is evicted for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.ref import Kind, Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.definitions import definition
from tests.model.sets import clique
from tests.simulation.simulation import PLATFORM, Simulation
from tests.simulation.world import POD_GROUP
from tests.step.world import context
from tests.training.jobs import attempts, exit_pod, fail, finish, job, phase, pod_of, take

LEAD, WORKER = "demo-0-lead", "demo-0-worker"
VOLCANO = Kind("scheduling.volcano.sh", "v1beta1", "PodGroup")
PROFILES = [{"name": "default-scheduler"}, {"name": "kai-scheduler"}, {"name": "volcano"}]
SCHEDULERS = {**PLATFORM, "scheduler": {"profiles": PROFILES, "defaultProfileName": "default-scheduler"}}


def scheduled_by(scheduler: str, cliques: list[Manifest] | None = None) -> Simulation:
    """A job of a leader and three workers that a scheduler has placed, unless `cliques` are given."""
    simulation = Simulation(context(Settings(pods=True, kube_version="1.35"), Document(SCHEDULERS)))
    simulation.world.cluster.seed(definition("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups"))
    manifest = job(cliques or [clique("lead"), clique("worker", 3)], maxRestarts=1)
    manifest["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    for one in manifest["spec"]["template"]["cliques"]:
        one["spec"]["podSpec"]["schedulerName"] = scheduler
    simulation.world.apply(manifest)
    simulation.settle()
    simulation.wait(60)
    return simulation


def told_kai(simulation: Simulation) -> tuple[int, dict[str, int]]:
    spec = simulation.world.get(POD_GROUP, "demo-0")["spec"]
    return spec["minMember"], {one["name"]: one["minMember"] for one in spec["subGroups"]}


def told_volcano(simulation: Simulation) -> tuple[int, dict[str, int]]:
    spec = simulation.world.get(VOLCANO, "demo-0")["spec"]
    return spec["minMember"], {one["name"]: one["subGroupSize"] for one in spec["subGroupPolicy"]}


def test_kai_waits_for_no_rank_that_has_finished() -> None:
    """It counts none of them, whether their pods exist or not. A subgroup may need none, but a gang needs one."""
    simulation = scheduled_by("kai-scheduler")
    assert told_kai(simulation) == (4, {LEAD: 1, WORKER: 3})
    exit_pod(simulation, 0, clique=LEAD)
    exit_pod(simulation, 1)
    simulation.settle()
    assert told_kai(simulation) == (2, {LEAD: 0, WORKER: 2})
    take(simulation, 1)
    simulation.settle()
    assert told_kai(simulation) == (2, {LEAD: 0, WORKER: 2})
    finish(simulation)
    assert (told_kai(simulation), phase(simulation)) == ((1, {LEAD: 0, WORKER: 0}), "Succeeded")


def test_volcano_waits_for_no_rank_that_has_finished_and_is_gone() -> None:
    """It counts those whose pods exist. A subgroup without any pod would keep the gang from being scheduled."""
    simulation = scheduled_by("volcano")
    for index, name in ((0, LEAD), (1, WORKER)):
        exit_pod(simulation, index, clique=name)
    simulation.settle()
    assert told_volcano(simulation) == (4, {LEAD: 1, WORKER: 3})
    for index, name in ((0, LEAD), (1, WORKER)):
        take(simulation, index, clique=name)
    simulation.settle()
    assert told_volcano(simulation) == (2, {WORKER: 2})
    finish(simulation)
    for index in (0, 2):
        take(simulation, index)
    simulation.settle()
    assert (told_volcano(simulation), phase(simulation)) == ((1, {LEAD: 1, WORKER: 1}), "Succeeded")


@pytest.mark.parametrize(("scheduler", "told"), [("kai-scheduler", told_kai), ("volcano", told_volcano)])
def test_the_next_attempt_needs_all_its_pods(scheduler: str, told: Callable[[Simulation], object]) -> None:
    simulation = scheduled_by(scheduler)
    exit_pod(simulation, 1)
    simulation.settle()
    take(simulation, 1)
    fail(simulation, 0)
    assert (told(simulation), attempts(simulation)) == ((4, {LEAD: 1, WORKER: 3}), {"2"})


def test_what_has_finished_counts_towards_min_available() -> None:
    """So a pod that is replaced alone is scheduled by itself."""
    simulation = scheduled_by("kai-scheduler", [clique("worker", 4, 3)])
    exit_pod(simulation, 0)
    exit_pod(simulation, 1)
    simulation.settle()
    assert told_kai(simulation) == (1, {WORKER: 1})
    fail(simulation, 2)
    simulation.wait(60)
    assert (told_kai(simulation), attempts(simulation), phase(simulation)) == ((1, {WORKER: 1}), {"1"}, "Running")


@pytest.mark.parametrize(("scheduler", "told"), [("kai-scheduler", told_kai), ("volcano", told_volcano)])
def test_no_scheduler_waits_for_a_rank_that_has_failed_before_all_have_run(scheduler: str, told: Callable[[Simulation], object]) -> None:
    """Its failure is only judged once the others run: one of them that is created again would never be placed."""
    simulation = scheduled_by(scheduler)
    simulation.machines.cordoned = True
    fail(simulation, 0)
    for index in range(2):
        start(simulation, index)
    exit_pod(simulation, 0, 1)
    take(simulation, 2, reason="EvictionByEvictionAPI")
    simulation.settle()
    assert told(simulation) == (3, {LEAD: 1, WORKER: 2})
    simulation.machines.cordoned = False
    simulation.wait(120)
    assert (told(simulation), attempts(simulation), phase(simulation)) == ((4, {LEAD: 1, WORKER: 3}), {"3"}, "Running")


def start(simulation: Simulation, index: int) -> None:
    """A worker gets a node, and runs."""
    runs = [{"name": "main", "state": {"running": {"startedAt": timestamp(simulation.world.now)}}}]
    pod = pod_of(simulation, WORKER, index)
    simulation.world.put({**pod, "spec": {**pod["spec"], "nodeName": "node"}})
    simulation.world.report(pod_of(simulation, WORKER, index), phase="Running", conditions=[], containerStatuses=runs)
