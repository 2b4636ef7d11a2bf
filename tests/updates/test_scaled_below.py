"""What is scaled below `minAvailable`, and not to zero, keeps nothing waiting: neither scaled gangs nor updates."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from tests.simulation.sets import FRONT, demo, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, watched
from tests.simulation.world import CLIQUE, GROUP, POD, SET


def demanding() -> Manifest:
    """A set of which two pods of each clique have to start together."""
    manifest = demo(replicas=2, front=3)
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 2
    return manifest


def scaled_to(manifest: Manifest, count: int, clique: str) -> Simulation:
    """A set that runs, after somebody has scaled a clique."""
    simulation = running(manifest)
    simulation.edit(replicas(count), kind=CLIQUE, name=clique)
    simulation.settle()
    return simulation


@pytest.fixture(params=["demo-0-front", "demo-0-sg-0-pre", "demo-0-sg-2-pre"])
def scaled(request: pytest.FixtureRequest) -> Simulation:
    """Somebody has scaled a clique of the base gang, alone or in a group, or of a scaled gang to one pod of two."""
    return scaled_to(demanding(), 1, request.param)


def assert_goes_through(simulation: Simulation) -> None:
    """An edit of the image reaches all pods, and the update ends."""
    watched(simulation).edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)
    assert "updateEndedAt" in simulation.status(SET, "demo")["updateProgress"]


def test_an_update_goes_through_the_whole_set(scaled: Simulation) -> None:
    assert_goes_through(scaled)


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("member", range(3))
def test_an_update_goes_through_a_group_that_needs_all_of_its_other_replicas(member: int, count: int) -> None:
    manifest = demanding()
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
    assert_goes_through(scaled_to(manifest, count, f"demo-0-sg-{member}-pre"))


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("members", [1, 2])
def test_an_update_goes_on_from_a_replica_of_the_set_in_which_no_group_has_what_it_needs(members: int, count: int) -> None:
    manifest = demo(replicas=3, members=members)
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = members
    assert_goes_through(scaled_to(manifest, count, "demo-1-sg-0-pre"))


def test_a_lost_pod_of_a_scaled_gang_comes_back_and_further_gangs_come_up(scaled: Simulation) -> None:
    scaled.world.delete(POD, scaled.world.pods("demo-0-sg-2-dec")[0]["metadata"]["name"])
    scaled.edit(replicas(4), kind=GROUP, name="demo-0-sg")
    scaled.settle()
    assert len(scaled.world.pods("demo-0-sg-3")) == 3
    assert_all_ready(scaled)
