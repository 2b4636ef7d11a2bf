"""The operator is killed after every single write: whoever comes next ends where one ends that nobody kills, no pod extra and none lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.controller.operator import FINALIZERS
from tests.invariants.reasons import Reasons
from tests.simulation.sets import DEC, PRE, demo, image, replicas, size
from tests.simulation.shapes import shapes
from tests.simulation.simulation import Simulation, running
from tests.simulation.state import state
from tests.simulation.watch import News, check, watched
from tests.simulation.world import CLIQUE, GROUP, SET, TOPOLOGY, Moment
from tests.step.world import context

MINUTE = 60.0
CONFIG = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "topologyAwareScheduling": {"enabled": True},
    "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]},
}


def small(**template: Any) -> dict[str, Any]:
    """Two pods outside scaling groups, and two replicas of three in one."""
    return demo(members=2, **template)


def levels(*domains: str) -> list[dict[str, str]]:
    return [{"domain": domain, "key": f"example.com/{domain}"} for domain in domains]


def placed() -> Simulation:
    """A set that is to be placed in a rack of a topology."""
    simulation = Simulation(StepContext(context().program, context().settings, Document(CONFIG)))
    head = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": "lab"}}
    simulation.world.apply({**head, "spec": {"levels": levels("zone", "rack", "host")}})
    simulation.world.apply(small(clusterTopologyName="lab", topologyConstraint={"packDomain": "rack"}))
    simulation.settle()
    simulation.wait(MINUTE)
    return simulation


def without_rack(simulation: Simulation) -> None:
    def edit(topology: dict[str, Any]) -> None:
        topology["spec"]["levels"] = levels("zone", "host")

    simulation.edit(edit, kind=TOPOLOGY, name="lab")


def nearly_terminated() -> Simulation:
    """A set of which a pod has not been ready for almost as long as it may."""
    set = small(terminationDelay="1m0s")
    set["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
    simulation = running(set)
    simulation.machines.fail("demo-0-sg-1-dec")
    simulation.settle()
    simulation.let_pass(MINUTE * 2 / 3)  # all that is told of it before is told
    return simulation


def scaled(set_replicas: int, clique: int, group: int) -> Callable[[Simulation], None]:
    """Somebody scales all that can be scaled."""

    def intervention(simulation: Simulation) -> None:
        simulation.edit(replicas(set_replicas))
        simulation.edit(replicas(clique), kind=CLIQUE, name="demo-0-front")
        simulation.edit(replicas(group), kind=GROUP, name="demo-0-sg")

    return intervention


def taken_over() -> Simulation:
    """A set whose objects bear the finalizers of the shipped operator, which somebody has to take off."""
    simulation = running(small())
    for kind, finalizer in zip((SET, CLIQUE, GROUP), FINALIZERS, strict=True):
        for one in simulation.world.all(kind):
            simulation.world.put({**one, "metadata": {**one["metadata"], "finalizers": [finalizer]}})
    simulation.settle()
    return simulation


def orphaned() -> Simulation:
    """What a set has left that somebody has deleted without what it owned."""
    simulation = running(small())
    simulation.world.delete(SET, "demo", "Orphan")
    simulation.settle()
    simulation.operator.kill()
    return simulation


def made_again(simulation: Simulation) -> None:
    """The set is there again, and an operator that has not seen the one before."""
    simulation.world.apply(small())
    simulation.operator.start()


def deleted(propagation: str) -> Callable[[Simulation], None]:
    """Somebody deletes the set."""
    return lambda simulation: simulation.world.delete(SET, "demo", propagation)


class Case(NamedTuple):
    """What there is, and what somebody does to it. `least` is how many writes follow at least: a case that makes none proves nothing."""

    before: Callable[[], Simulation]
    intervention: Callable[[Simulation], None]
    least: int


CASES = {
    "create": Case(Simulation, lambda simulation: simulation.world.apply(small()), 40),
    "scale up": Case(lambda: running(demo(members=1)), scaled(2, 3, 2), 50),
    "scale down": Case(lambda: running(demo(replicas=2)), scaled(1, 1, 1), 20),
    "rolling update": Case(lambda: running(small()), lambda simulation: simulation.edit(image("new")), 70),
    "update of a group's size": Case(
        lambda: running(demo(members=1)), lambda simulation: simulation.edit(size(2, DEC), image("new", PRE)), 20
    ),
    "update of a group's size by the clique that has another image": Case(
        lambda: running(demo(members=1)), lambda simulation: simulation.edit(size(3, PRE), image("new", PRE)), 20
    ),
    "gang termination": Case(nearly_terminated, lambda simulation: simulation.let_pass(MINUTE), 30),
    "topology change": Case(placed, without_rack, 4),
    "adoption of what an earlier set has left": Case(orphaned, made_again, 10),
    "deletion": Case(lambda: running(small()), deleted("Background"), 5),
    "deletion after all that is owned": Case(lambda: running(small()), deleted("Foreground"), 5),
    "deletion that leaves what is owned": Case(lambda: running(small()), deleted("Orphan"), 0),
    "deletion of what another operator made": Case(taken_over, lambda simulation: simulation.world.delete(SET, "demo"), 15),
}


class PodChanges(NamedTuple):
    """How many pods came, and how many went."""

    made: int
    gone: int


def pod_changes(simulation: Simulation, version: int, until: float = float("inf")) -> PodChanges:
    changes = [
        change for change in simulation.world.cluster.store.changes if version < change.version <= until and change.ref.kind == "Pod"
    ]
    return PodChanges(
        sum(change.new is not None and change.old is None for change in changes),
        sum(change.old is not None and change.new is None for change in changes),
    )


class Point(NamedTuple):
    """A point of a run at which all that follows is decided: in which of its two parts it is, which pods came and went, and the state."""

    part: int
    pods: PodChanges
    state: str


def end(simulation: Simulation, since: int, before: PodChanges) -> Iterator[Point]:
    """Lets all go on to its end, and yields each point on the way. `before` is what had happened before the version `since`."""
    for part in range(2):
        if part:
            simulation.let_pass(2 * MINUTE)
        for _ in simulation.rounds():
            now = pod_changes(simulation, since)
            yield Point(part, PodChanges(before.made + now.made, before.gone + now.gone), sha256(state(simulation).encode()).hexdigest())


@pytest.mark.parametrize("name", CASES)
def test_a_crash_after_any_write_changes_nothing_about_the_end(name: str) -> None:
    """A run that comes to a point from which another one has ended as it should ends so, too, and is not played any further."""
    before, intervention, least = CASES[name]
    simulation = before()
    began, moments = simulation.world.version, list[Moment]()
    reasons, news = Reasons(simulation.world), News(simulation.world)

    def look(reason: str) -> None:
        check(simulation, simulation.operator, reason, reasons, news)
        moments.append(simulation.world.moment())

    simulation.operator.after_write = look
    intervention(simulation)
    known = set(end(simulation, began, PodChanges(0, 0)))
    assert len(moments) >= least
    wanted, all_pods, played_out = shapes(simulation), pod_changes(simulation, began), 0
    for number, moment in enumerate(moments, 1):
        after, points = watched(Simulation(simulation.operator.context, moment=moment)), set[Point]()
        after.machines.failing |= simulation.machines.failing
        for point in end(after, moment.version, first := pod_changes(simulation, began, moment.version)):
            points.add(point)
            if point in known:
                break
        else:
            played_out += 1
            then = pod_changes(after, moment.version)
            assert shapes(after) == wanted, f"after write {number}"
            assert first.made + then.made == all_pods.made, f"pods that were made, after write {number}"
            assert first.gone + then.gone == all_pods.gone, f"pods that went, after write {number}"
        known |= points
        after.close()
    assert played_out <= max(1, len(moments) / 3), "most runs come to a point that is known"
