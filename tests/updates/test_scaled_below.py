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


@pytest.fixture(params=["demo-0-front", "demo-0-sg-0-pre", "demo-0-sg-2-pre"])
def scaled(request: pytest.FixtureRequest) -> Simulation:
    """Somebody has scaled a clique of the base gang, alone or in a group, or of a scaled gang to one pod of two."""
    simulation = running(demanding())
    simulation.edit(replicas(1), kind=CLIQUE, name=request.param)
    simulation.settle()
    return simulation


def test_an_update_goes_through_the_whole_set(scaled: Simulation) -> None:
    watched(scaled).edit(image("new"))
    scaled.settle()
    assert scaled.images() == {"new"}
    assert_all_ready(scaled)
    assert "updateEndedAt" in scaled.status(SET, "demo")["updateProgress"]


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("member", range(3))
def test_an_update_goes_through_a_group_that_needs_all_of_its_other_replicas(member: int, count: int) -> None:
    manifest = demanding()
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
    simulation = running(manifest)
    simulation.edit(replicas(count), kind=CLIQUE, name=f"demo-0-sg-{member}-pre")
    simulation.settle()
    watched(simulation).edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)
    assert "updateEndedAt" in simulation.status(SET, "demo")["updateProgress"]


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("members", [1, 2])
def test_an_update_goes_on_from_a_replica_of_the_set_in_which_no_group_has_what_it_needs(members: int, count: int) -> None:
    manifest = demo(replicas=3, members=members)
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = members
    simulation = running(manifest)
    simulation.edit(replicas(count), kind=CLIQUE, name="demo-1-sg-0-pre")
    simulation.settle()
    watched(simulation).edit(image("new"))
    simulation.settle()
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)
    assert "updateEndedAt" in simulation.status(SET, "demo")["updateProgress"]


def test_a_lost_pod_of_a_scaled_gang_comes_back_and_further_gangs_come_up(scaled: Simulation) -> None:
    scaled.world.delete(POD, scaled.world.pods("demo-0-sg-2-dec")[0]["metadata"]["name"])
    scaled.edit(replicas(4), kind=GROUP, name="demo-0-sg")
    scaled.settle()
    assert len(scaled.world.pods("demo-0-sg-3")) == 3
    assert_all_ready(scaled)
