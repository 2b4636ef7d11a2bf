"""Any of the deletions with which a replica of a scaling group is replaced may fail, and the others not: it is replaced as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from applier.errors import ServerFailure
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.simulation.sets import DEC, PRE, demo, image, size, strategy
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan
from tests.simulation.world import POD, SET

Edit = Callable[[Manifest], None]
MEMBER = "demo-0-sg-0"


def even() -> Manifest:
    """A set of which a replica of the scaling group has two pods of each clique."""
    manifest = demo(members=1)
    manifest["spec"]["template"]["cliques"][DEC]["spec"] |= {"replicas": 2, "minAvailable": 1}
    return manifest


def nothing(_: Simulation) -> None:
    pass


def lose_one(simulation: Simulation) -> None:
    """Somebody replaces a pod by hand."""
    simulation.world.delete(POD, simulation.world.pods(f"{MEMBER}-pre")[0]["metadata"]["name"])


class Case(NamedTuple):
    """An edit, and what happened before it was rolled: with `by_hand` people replace pods first, and then the update goes on by itself."""

    edits: list[Edit]
    by_hand: Callable[[Simulation], None] | None = None


CASES = {
    "an image of one clique": Case([image("new", PRE)]),
    "an image of the other": Case([image("new", DEC)]),
    "a size, and an image of that clique": Case([image("new", PRE), size(3, PRE)]),
    "a size, and an image of the clique beside it": Case([image("new", DEC), size(3, PRE)]),
    "sizes that add up to the same": Case([image("new", PRE), size(3, PRE), size(1, DEC)]),
    "sizes that add up to the same, and an image of the other": Case([image("new", DEC), size(3, PRE), size(1, DEC)]),
    "a size while people replaced pods": Case([image("new", PRE), size(3, PRE)], nothing),
    "a size while people replaced pods, of which they replaced one": Case([image("new", PRE), size(3, PRE)], lose_one),
    "sizes of both while people replaced pods": Case([image("new", PRE, DEC), size(3, PRE), size(1, DEC)], nothing),
}


@pytest.mark.parametrize("clique", ["pre", "dec"])
@pytest.mark.parametrize("plural", ["pods", "podcliques"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_left_after_a_deletion_that_failed_is_replaced_all_the_same(name: str, plural: str, clique: str) -> None:
    edits, by_hand = CASES[name]
    simulation = running(even())
    before = {one["metadata"]["uid"] for one in simulation.world.pods(MEMBER)}
    if by_hand is not None:
        simulation.edit(strategy("OnDelete"), *edits)
        simulation.settle()
        by_hand(simulation)
        simulation.settle()

    def is_deletion(request: MemoryRequest) -> bool:
        return (request.verb, request.resource.plural) == ("delete", plural) and request.name.startswith(f"{MEMBER}-{clique}")

    simulation.world.cluster.fail(is_deletion, ServerFailure(500, "InternalError", "leader changed"), times=1)
    simulation.edit(*(edits if by_hand is None else [strategy("RollingRecreate")]))
    simulation.settle()
    simulation.wait(60.0)
    assert not before & {one["metadata"]["uid"] for one in simulation.world.pods()}
    declared = simulation.world.get(SET, "demo")["spec"]["template"]["cliques"]
    sizes = [len(simulation.world.pods(f"{MEMBER}-{one['name']}")) for one in declared[PRE:]]
    assert sizes == [one["spec"]["replicas"] for one in declared[PRE:]]
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
