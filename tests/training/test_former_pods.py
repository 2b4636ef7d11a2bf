"""No rank runs twice at once: what was deleted with its PodClique, scaling group or set still runs until its node has stopped it."""

from __future__ import annotations

from typing import Any

import pytest

from applier.ref import Kind, Manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, SET
from tests.training.jobs import attempts, events, finish, job, phase, started, uids

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
