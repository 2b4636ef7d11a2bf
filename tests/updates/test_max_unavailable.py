"""`rollingUpdate.maxUnavailable`: an update may replace several pods, or replicas of a scaling group, at a time, and never more."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from tests.invariants.serving import serving
from tests.model.sets import clique, group, pcs
from tests.simulation.sets import FRONT, image
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, watched
from tests.simulation.world import POD

PODS, REPLICAS = "demo-0-front", "demo-0-sg"


def several(at_a_time: int | None, count: int = 6, needed: int = 6) -> Manifest:
    """A set of as many pods outside scaling groups as replicas in one, which may be replaced so many at a time."""
    budget = {} if at_a_time is None else {"rollingUpdate": {"maxUnavailable": at_a_time}}
    cliques = [clique("front", count, needed, **budget), clique("pre", 2), clique("dec", 1)]
    return pcs(cliques, [group("sg", ["pre", "dec"], count, needed, **budget)])


class Least:
    """Keeps the least number that served of each part since it was made."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, self.of = simulation, dict[str, int]()
        check = simulation.operator.after_write

        def look(write: str) -> None:
            check(write)
            for name, count in serving(simulation.world).items():
                self.of[name] = min(count, self.of.get(name, count))

        simulation.operator.after_write = look


@pytest.mark.parametrize(("at_a_time", "left"), [(None, 5), (1, 5), (3, 3), (6, 0), (99, 0)])
@pytest.mark.parametrize("needed", [1, 6])
def test_815_so_many_are_replaced_at_a_time(at_a_time: int | None, left: int, needed: int) -> None:
    simulation = watched(running(several(at_a_time, needed=needed)))
    least = Least(simulation)
    simulation.edit(image("new"))
    simulation.settle()
    assert_all_ready(simulation)
    assert {simulation.images(f"demo-0-{name}").pop() for name in ("front", "sg-0-pre", "sg-5-dec")} == {"new"}
    assert least.of == {PODS: left, REPLICAS: left}


@pytest.mark.parametrize("needed", [1, 6])
def test_a_template_that_fits_nowhere_costs_no_more_however_often_it_is_edited(needed: int) -> None:
    simulation = watched(running(several(2, needed=needed)))
    for tag in ("nowhere", "nowhere-else", "nowhere"):
        simulation.edit(image(tag))
        simulation.settle()
        assert serving(simulation.world) == {PODS: 4, REPLICAS: 4}
    simulation.edit(image("busybox"))
    simulation.settle()
    assert_all_ready(simulation)


def test_what_was_lost_before_is_a_part_of_what_may_be_missing() -> None:
    simulation = watched(running(several(2)))
    simulation.machines.room = len(simulation.world.pods()) - 1
    simulation.world.delete(POD, simulation.world.pods(PODS)[0]["metadata"]["name"])
    simulation.settle()
    simulation.edit(image("nowhere", FRONT))
    simulation.settle()
    assert serving(simulation.world)[PODS] == 4


def test_another_number_holds_for_the_update_that_goes_on() -> None:
    simulation = watched(running(several(6)))
    least = Least(simulation)

    def edit(manifest: Manifest) -> None:
        image("new")(manifest)
        template = manifest["spec"]["template"]
        for one in (template["cliques"][FRONT], template["podCliqueScalingGroups"][0]):
            one["rollingUpdate"]["maxUnavailable"] = 1

    simulation.edit(image("newer"))
    simulation.edit(edit)
    simulation.settle()
    assert_all_ready(simulation)
    assert least.of == {PODS: 5, REPLICAS: 5}
