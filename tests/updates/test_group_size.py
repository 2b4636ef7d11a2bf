"""Another number of pods for a clique of a scaling group: it counts for a replica once that is replaced, as the shipped operator has it."""

from __future__ import annotations

import pytest

from tests.simulation.admission import REFUSED
from tests.simulation.sets import DEC, PRE, image, replicas, size
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan, watched
from tests.simulation.world import CLIQUE, GROUP, POD

TOLD = "GROVE_PCSG_TEMPLATE_NUM_PODS"


def sizes(simulation: Simulation, clique: str) -> list[int]:
    """How many pods the clique has in each replica of the group."""
    group = simulation.world.get(GROUP, "demo-0-sg")
    return [len(simulation.world.pods(f"demo-0-sg-{index}-{clique}")) for index in range(group["spec"]["replicas"])]


def told(simulation: Simulation, member: int) -> set[str]:
    """What pods and PodCliques of a replica of the group say of its size."""
    prefix = f"demo-0-sg-{member}-"
    cliques = [one["spec"]["podSpec"] for one in simulation.world.all(CLIQUE) if one["metadata"]["name"].startswith(prefix)]
    specs = [*cliques, *(one["spec"] for one in simulation.world.pods(prefix))]
    return {one["value"] for spec in specs for one in spec["containers"][0]["env"] if one["name"] == TOLD}


def test_by_itself_it_changes_nothing_of_what_runs() -> None:
    simulation = running()
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.edit(size(3, PRE))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
    assert told(simulation, 0) == {"3"}


def test_a_pod_that_is_replaced_is_told_what_those_beside_it_were_told() -> None:
    simulation = running()
    simulation.edit(size(3, PRE))
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods("demo-0-sg-1-dec")[0]["metadata"]["name"])
    simulation.settle()
    assert_all_ready(simulation)
    assert told(simulation, 1) == {"3"}


def test_a_new_replica_has_it_at_once() -> None:
    simulation = running()
    simulation.edit(size(3, PRE))
    simulation.edit(replicas(4), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert sizes(simulation, "pre") == [2, 2, 2, 3]
    assert told(simulation, 3) == {"4"}


def test_an_update_brings_it_to_all_of_them_also_where_only_another_clique_changes() -> None:
    simulation = watched(running())
    simulation.edit(size(2, DEC), image("new", PRE))
    simulation.settle()
    assert simulation.images("demo-0-sg-0-pre") == {"new"}
    assert sizes(simulation, "dec") == [2, 2, 2]
    assert [told(simulation, index) for index in range(3)] == [{"4"}] * 3
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
    assert "updateEndedAt" in simulation.status()["updateProgress"]


@pytest.mark.parametrize("before", ["", "nowhere", "broken", REFUSED])
def test_an_update_of_the_clique_whose_number_changes_tells_it_to_those_beside_it(before: str) -> None:
    """Its PodClique is deleted, with its pods, in the same moment as theirs."""
    simulation = running()
    if before:
        simulation.edit(image(before, DEC))
        simulation.settle()
    simulation.edit(size(2, DEC), image("new", DEC))
    simulation.settle()
    assert [told(simulation, index) for index in range(3)] == [{"4"}] * 3
    assert_all_ready(simulation)
    assert_no_orphan(simulation)


def test_an_update_leaves_alone_the_scale_that_somebody_has_set() -> None:
    simulation = watched(running())
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-sg-1-pre")
    simulation.settle()
    simulation.edit(image("new"))
    simulation.settle()
    assert sizes(simulation, "pre") == [2, 4, 2]
    assert told(simulation, 1) == {"3"}
    assert_all_ready(simulation)
