"""Another number of pods for a clique of a scaling group: it counts for a replica once that is replaced, as the shipped operator has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.errors import ServerFailure
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.simulation.admission import REFUSED
from tests.simulation.sets import DEC, FRONT, PRE, demo, image, replicas, size
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan, watched
from tests.simulation.world import CLIQUE, GROUP, POD, SET, is_ready

TOLD = "GROVE_PCSG_TEMPLATE_NUM_PODS"


def sizes(simulation: Simulation, clique: str) -> list[int]:
    """How many pods the clique has in each replica of the group."""
    group = simulation.world.get(GROUP, "demo-0-sg")
    return [len(simulation.world.pods(f"demo-0-sg-{index}-{clique}")) for index in range(group["spec"]["replicas"])]


def told(simulation: Simulation, member: int) -> set[str]:
    """What pods and PodCliques of a replica of the group say of its size."""
    prefix = f"demo-0-sg-{member}-"
    cliques = [one["spec"]["podSpec"] for one in simulation.world.all(CLIQUE) if one["metadata"]["name"].startswith(prefix)]
    return told_to([*cliques, *(one["spec"] for one in simulation.world.pods(prefix))])


def told_to(specs: list[Manifest]) -> set[str]:
    return {one["value"] for spec in specs for one in spec["containers"][0]["env"] if one["name"] == TOLD}


def test_by_itself_it_changes_nothing_of_what_runs() -> None:
    simulation = running()
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.edit(size(3, PRE))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
    assert told(simulation, 0) == {"3"}


def test_a_replica_that_serves_is_not_touched_where_another_clique_of_the_edit_is_refused() -> None:
    simulation = running()
    before = {one["metadata"]["uid"] for one in simulation.world.pods("demo-0-sg")}
    simulation.edit(image(REFUSED, FRONT), image("second", PRE, DEC), size(3, PRE))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods("demo-0-sg")} == before


@pytest.mark.parametrize("deletions", [1, 3, 5])
def test_a_replacement_that_has_begun_leaves_no_replica_in_part_where_another_clique_is_refused_then(deletions: int) -> None:
    simulation, deleted = running(), list[str]()

    def refuse_front(reason: str) -> None:
        deleted.extend([reason] * bool(reason))
        if len(deleted) == deletions:
            simulation.edit(image(REFUSED, FRONT))

    simulation.operator.after_write = refuse_front
    simulation.edit(image("second", PRE, DEC), size(3, PRE))
    simulation.settle()
    for member in range(3):
        pods = simulation.world.pods(f"demo-0-sg-{member}")
        assert told_to([one["spec"] for one in pods]) == {str(len(pods))}
        assert all(map(is_ready, pods))


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


def test_an_update_resizes_also_what_was_made_when_a_size_was_declared_that_no_revision_records() -> None:
    """Revisions record templates, each with the size at which it was declared first."""
    simulation = running(demo(members=1))
    simulation.edit(size(3, PRE))
    simulation.settle()
    simulation.edit(replicas(2), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert sizes(simulation, "pre") == [2, 3]
    simulation.edit(size(4, PRE), image("new", PRE))
    simulation.settle()
    assert sizes(simulation, "pre") == [4, 4]
    assert_all_ready(simulation)


EDITS = {
    "of the clique that has another image": [size(3, PRE), image("new", PRE)],
    "of the clique beside it": [size(2, DEC), image("new", PRE)],
    "of a clique, and images of both": [size(2, DEC), image("new", PRE, DEC)],
}


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("plural", ["pods", "podcliques"])
def test_a_replica_that_was_replaced_in_part_for_a_deletion_has_failed_is_replaced_as_a_whole_all_the_same(
    plural: str, edits: list[Callable[[Manifest], None]]
) -> None:
    """The pods that tell by their template that others beside them are due are gone by then."""
    simulation = running(demo(members=1))

    def is_deletion(request: MemoryRequest) -> bool:
        return request.verb == "delete" and request.resource.plural == plural

    simulation.world.cluster.fail(is_deletion, ServerFailure(500, "InternalError", "leader changed"), times=1)
    simulation.edit(*edits)
    simulation.settle()
    simulation.wait(60.0)
    assert told(simulation, 0) == {"4"}
    template = simulation.world.get(SET, "demo")["spec"]["template"]["cliques"]
    assert (sizes(simulation, "pre"), sizes(simulation, "dec")) == tuple([template[index]["spec"]["replicas"]] for index in (PRE, DEC))
    assert_all_ready(simulation)


def test_an_update_leaves_alone_the_scale_that_somebody_has_set() -> None:
    simulation = watched(running())
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-sg-1-pre")
    simulation.settle()
    simulation.edit(image("new"))
    simulation.settle()
    assert sizes(simulation, "pre") == [2, 4, 2]
    assert told(simulation, 1) == {"3"}
    assert_all_ready(simulation)
