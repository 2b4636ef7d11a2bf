"""No rank runs twice at once: what was deleted with its PodClique, scaling group or set still runs until its node has stopped it."""

from __future__ import annotations

from typing import Any

import pytest

from applier.ref import Kind, Manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, SET
from tests.training.jobs import WORKER, attempts, events, finish, job, phase, pod_of, started, take, uids

RANK = "demo-0-ranks-0-rank"


def led(**limits: Any) -> Manifest:
    """A leader, and two gangs of two ranks each, of which one starts with it."""
    manifest = job([clique("lead"), clique("rank", 2)], **limits)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 1)]
    return manifest


def deleted(simulation: Simulation, kind: Kind, name: str) -> set[str]:
    """The UIDs of all pods: somebody deletes an object, and the programs of its pods go on for a while after they were asked to end."""
    simulation.machines.lost |= uids(simulation, name)
    pods = uids(simulation)
    simulation.world.delete(kind, name)
    return pods


@pytest.mark.parametrize(("kind", "name"), [(CLIQUE, RANK), (CLIQUE, "demo-0-ranks-1-rank"), (GROUP, "demo-0-ranks")])
def test_pods_are_made_again_once_those_of_a_deleted_podclique_have_ended(kind: Kind, name: str) -> None:
    simulation = started(led(maxRestarts=1))
    before = deleted(simulation, kind, name)
    simulation.settle()
    simulation.wait(30)
    assert uids(simulation) <= before
    simulation.wait(170)
    assert "RestartWaits" in events(simulation)
    simulation.machines.lost.clear()
    simulation.settle()
    assert (len(uids(simulation)), len(attempts(simulation)), phase(simulation)) == (5, 1, "Running")
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_a_job_that_is_made_anew_waits_for_the_pods_of_the_one_before() -> None:
    simulation = started(led())
    before = deleted(simulation, SET, "demo")
    simulation.world.apply(led())
    simulation.settle()
    simulation.wait(30)
    assert {pod["metadata"]["uid"] for pod in simulation.world.all(POD)} == before
    simulation.machines.lost.clear()
    simulation.settle()
    assert (attempts(simulation), phase(simulation)) == ({"1"}, "Running")


ALONE: dict[str, Manifest] = {
    "where others suffice": job([clique("worker", 3, 2)]),
    "within its terminationDelay": job(template={"terminationDelay": "10m"}),
}


@pytest.mark.parametrize("how", ALONE)
def test_a_rank_that_is_created_again_alone_comes_once_its_program_has_ended(how: str) -> None:
    """As where a node is drained, and the program writes a checkpoint until its grace period is over."""
    simulation = started(ALONE[how])
    simulation.machines.lost.add(pod_of(simulation, WORKER, 1)["metadata"]["uid"])
    before = uids(simulation)
    take(simulation, 1, reason="EvictionByEvictionAPI")
    simulation.settle()
    simulation.wait(30)
    assert uids(simulation) < before
    simulation.wait(170)
    assert "PodStuckTerminating" in events(simulation)
    simulation.machines.lost.clear()
    simulation.settle()
    assert (len(uids(simulation)), attempts(simulation), phase(simulation)) == (3, {"1"}, "Running")


def test_a_rank_that_has_ended_is_created_again_though_its_pod_is_kept() -> None:
    """As Kueue's finalizer keeps it."""
    simulation = started(ALONE["where others suffice"])
    kept = pod_of(simulation, WORKER, 1)
    simulation.machines.lost.add(kept["metadata"]["uid"])
    take(simulation, 1)
    simulation.world.report(simulation.world.get(POD, kept["metadata"]["name"]), phase="Failed")
    simulation.settle()
    assert len(uids(simulation)) == 3
