"""What is of a set that goes, while something keeps the set: its pods hold machines that others may need."""

from __future__ import annotations

import pytest

from applier.ref import Kind
from tests.simulation.sets import NAME, demo
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_no_orphan
from tests.simulation.world import CLIQUE, GANG, GROUP, NAMESPACE, POD, SERVICE, SET

MADE = (POD, CLIQUE, GROUP, GANG, SERVICE)
SOMEBODYS = "example.com/bills-are-paid"
OURS = "grove.io/computedomain-finalizer"


def left(simulation: Simulation) -> list[str]:
    return [f"{one['kind']}/{one['metadata']['name']}" for kind in MADE for one in simulation.world.all(kind)]


def bearing(finalizer: str) -> Simulation:
    """A set that somebody keeps."""
    simulation = running(demo(replicas=2))
    simulation.edit(lambda one: one["metadata"].update(finalizers=[finalizer]))
    simulation.settle()
    return simulation


@pytest.mark.parametrize("restarted", [False, True], ids=["", "and the operator starts anew"])
def test_all_that_is_of_a_set_goes_although_somebody_keeps_the_set(restarted: bool) -> None:
    simulation = bearing(SOMEBODYS)
    simulation.world.delete(SET, NAME)
    if restarted:
        simulation.operator.restart()
    simulation.settle()
    assert left(simulation) == []
    assert simulation.world.get(SET, NAME)["metadata"]["finalizers"] == [SOMEBODYS]
    assert_no_orphan(simulation)


def test_nobody_keeps_what_is_in_a_namespace_that_goes_also_where_the_operator_starts_only_then() -> None:
    """It has heard of no key what it wants, and asks none: nothing is made there any more."""
    simulation = running(demo(replicas=2))
    for one in simulation.world.all(SERVICE):
        simulation.world.put({**one, "metadata": {**one["metadata"], "finalizers": [OURS]}})
    simulation.operator.kill()
    namespace = simulation.world.get(Kind("", "v1", "Namespace"), NAMESPACE)
    simulation.world.put({**namespace, "metadata": {**namespace["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})
    simulation.operator.start()
    simulation.settle()
    assert left(simulation) == []
