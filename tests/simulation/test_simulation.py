"""Whatever happens in whatever order: nothing that must not happen does, and all ends as if it had been so from the start."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings

from applier.ref import Ref
from tests.simulation.schedules import LONGEST_BACKOFF, Action, CutOff, Die, Edit, Late, Pass, Slow, Tick, play, schedules
from tests.simulation.sets import NAME, demo, replicas
from tests.simulation.shapes import shapes
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan, watched
from tests.simulation.world import CLIQUE, GROUP, NAMESPACE, SERVICE, SET
from tests.suite.effort import runs

EXAMPLES = runs(25)
"""How many random schedules there are; more where there is time."""


def afresh(simulation: Simulation) -> Simulation:
    """Another world, in which what is declared here in the end was declared from the start."""
    fresh = Simulation()
    fresh.world.apply({**simulation.world.get(SET, NAME), "status": {}, "metadata": {"name": NAME, "namespace": "default"}})
    fresh.settle()
    for kind in (GROUP, CLIQUE):
        for one in fresh.world.all(kind):
            name = one["metadata"]["name"]
            fresh.edit(replicas(simulation.world.get(kind, name)["spec"]["replicas"]), kind=kind, name=name)
        fresh.settle()  # a group with another number of replicas has other PodCliques
    fresh.wait(LONGEST_BACKOFF)  # what has waited for a while is told of, as it was in the other world
    return fresh


def play_and_compare(simulation: Simulation, schedule: list[Action]) -> None:
    """Plays a schedule, and compares the end with that of a world in which nothing went wrong."""
    [stranger] = simulation.world.cluster.seed(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"{NAME}-9", "namespace": NAMESPACE}}
    )
    play(watched(simulation), schedule)
    assert simulation.world.cluster.find(Ref.of(stranger)) == stranger, "what is not ours was touched"
    simulation.world.delete(SERVICE, stranger["metadata"]["name"])
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
    assert simulation.images() == ({"last"} if simulation.world.pods() else set())
    fresh = afresh(simulation)
    assert shapes(simulation) == shapes(fresh)
    for one in (simulation, fresh):
        one.close()


random = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@random
@given(schedules)
@example([Edit("second", ()), Pass(3), Tick(), Edit("third", (0,)), Late("Pod", 20), Pass(1), Die(3), Pass(1)])
def test_any_schedule_ends_as_a_fresh_apply_does(schedule: list[Action]) -> None:
    play_and_compare(running(demo(replicas=2, terminationDelay="10m0s")), schedule)


@settings(random, max_examples=runs(15))  # each takes three times as long: leases are renewed all the time
@given(schedules)
@example([Edit("second", ()), Slow(5), Pass(3), CutOff(30), Pass(200), Tick(), Tick(), Edit("third", (0,)), Die(3, 1), Pass(30)])
def test_any_schedule_ends_so_with_two_operators_of_which_one_leads(schedule: list[Action]) -> None:
    play_and_compare(running(demo(replicas=2, terminationDelay="10m0s"), candidates=2), schedule)
