"""Where new pods fit nowhere an update takes no more than one lost pod does, and waits."""

from __future__ import annotations

import pytest

from tests.invariants.serving import serving
from tests.model.sets import clique, pcs
from tests.simulation.sets import FRONT, image
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, watched
from tests.simulation.world import POD


def test_where_there_is_room_for_no_more_than_what_is_needed_an_update_waits_for_room() -> None:
    """As that of a Deployment does. Whether the third pod waits for room or for a node that there is not, nobody knows."""
    simulation = Simulation(room=2)
    simulation.world.apply(pcs([clique("front", 3, 2)]))
    simulation.settle()
    assert serving(simulation.world)["demo-0-front"] == 2
    watched(simulation).edit(image("new", FRONT))
    simulation.wait(60)
    simulation.wait(10)  # a reason is an event once it has lasted
    assert serving(simulation.world)["demo-0-front"] == 2
    assert "updateEndedAt" not in simulation.status()["updateProgress"]
    assert any("cannot place it" in event for event in simulation.world.told)
    simulation.machines.room = 3
    simulation.settle()
    assert simulation.images("demo-0-front") == {"new"}
    assert serving(simulation.world)["demo-0-front"] == 3


@pytest.mark.parametrize("tag", ["nowhere", "new"])
def test_a_pod_that_is_lost_when_an_update_begins_is_all_that_is_lost_where_new_ones_fit_nowhere(tag: str) -> None:
    simulation = watched(running())
    simulation.machines.room = len(simulation.world.pods()) - 1
    simulation.world.delete(POD, simulation.world.pods("demo-0-front")[0]["metadata"]["name"])
    simulation.edit(image(tag, FRONT))
    simulation.settle()
    assert serving(simulation.world)["demo-0-front"] == 1
    simulation.machines.room += 1
    simulation.edit(image("new", FRONT))
    simulation.settle()
    assert_all_ready(simulation)
    assert simulation.images("demo-0-front") == {"new"}
