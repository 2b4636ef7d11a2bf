"""A cluster that refuses, delays, or loses the ground: quota that ends, admission that says no, a namespace that goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.errors import Forbidden, Invalid
from applier.ref import Kind, Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.hostile.world import A_WHILE, declared, differences, look, serving, stalls, two_sets
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GANG, GROUP, NAMESPACE, POD, SERVICE, SET, at_once
from tests.suite.effort import runs

LONG = 300.0
"""Seconds, in which a refused write has been tried many times."""
RETRY = 75.0
"""Seconds, longer than a refused write rests: of a quota that is raised nobody tells."""
NAMESPACES = Kind("", "v1", "Namespace")
PODS_OF_A_REPLICA = 8


class Quota:
    """Room for so many pods in the namespace."""

    def __init__(self, simulation: Simulation, room: int) -> None:
        self.simulation, self.room = simulation, room
        simulation.world.cluster.fail(self._is_over, Forbidden(403, "Forbidden", "exceeded quota: pods, limited: pods=few"), times=-1)

    def _is_over(self, request: MemoryRequest) -> bool:
        is_new = request.verb == "create" and request.resource.plural == "pods"
        return is_new and len(self.simulation.world.all(POD)) >= self.room


def refusing(plural: str, *verbs: str) -> Callable[[MemoryRequest], bool]:
    return lambda request: request.resource.plural == plural and request.verb in verbs


@pytest.mark.parametrize("room", [13, 3, 8, 16][: runs(1)])
def test_a_quota_that_ends_halfway_is_told_and_the_rest_comes_once_it_is_raised(room: int) -> None:
    simulation = two_sets()
    simulation.let_pass(1)
    pods = serving(simulation)
    quota = Quota(simulation, 2 * PODS_OF_A_REPLICA + room)
    simulation.edit(replicas(4))
    simulation.settle()
    simulation.let_pass(LONG)
    assert len(serving(simulation)) <= 2 * PODS_OF_A_REPLICA + room and pods.items() <= serving(simulation).items()
    assert any("exceeded quota" in one for one in stalls(simulation)), "a condition tells"
    assert any("exceeded quota" in one for one in simulation.world.told), "an event tells"
    quota.room = 1000
    simulation.let_pass(RETRY)
    simulation.settle()
    assert len(serving(simulation)) == 5 * PODS_OF_A_REPLICA
    assert stalls(simulation) == []


def test_a_rolling_update_that_meets_a_full_quota_takes_one_pod_and_goes_on_once_it_is_raised() -> None:
    """What it has taken down it cannot replace: it takes no more."""
    simulation = two_sets()
    simulation.let_pass(1)
    quota = Quota(simulation, 0)
    simulation.edit(image("new"))
    simulation.settle()
    simulation.let_pass(LONG)
    assert len(serving(simulation)) >= 2 * PODS_OF_A_REPLICA - 1 - 3, "one pod of the clique, and one replica of the group"
    assert any("exceeded quota" in one for one in stalls(simulation))
    quota.room = 1000
    simulation.let_pass(RETRY)
    simulation.settle()
    assert simulation.images("demo") == {"new"}
    assert len(serving(simulation)) == 2 * PODS_OF_A_REPLICA
    assert stalls(simulation) == []


REFUSALS = {
    "pods": refusing("pods", "create"),
    "PodCliques": refusing("podcliques", "apply", "create"),
    "scaling groups": refusing("podcliquescalinggroups", "apply", "create"),
    "gangs": refusing("podgangs", "apply", "create"),
    "Services": refusing("services", "apply", "create"),
    "ControllerRevisions": refusing("controllerrevisions", "apply", "create"),
    "deletions of pods": refusing("pods", "delete"),
}


CASES = [(what, error) for error in (Forbidden, Invalid) for what in REFUSALS]


@pytest.mark.parametrize(("what", "error"), CASES[: runs(4)], ids=[f"{what}, {error.__name__}" for what, error in CASES[: runs(4)]])
def test_admission_that_refuses_is_told_and_harms_nobody(what: str, error: type[Forbidden] | type[Invalid]) -> None:
    simulation = two_sets()
    simulation.let_pass(1)
    others = {uid: clique for uid, clique in serving(simulation).items() if clique.startswith("other")}
    refusal = error(403 if error is Forbidden else 422, error.__name__, "admission webhook denied the request: not today")
    simulation.world.cluster.fail(REFUSALS[what], refusal, times=-1)
    simulation.edit(replicas(2), image("new"))
    simulation.settle()
    simulation.let_pass(LONG)
    assert any("not today" in one for one in [*stalls(simulation), *simulation.world.told]), "somebody is told"
    assert others.items() <= serving(simulation).items()
    simulation.world.cluster.faults.clear()
    simulation.let_pass(RETRY)
    simulation.settle()
    assert simulation.images("demo") == {"new"}
    assert len(serving(simulation)) == 3 * PODS_OF_A_REPLICA
    assert stalls(simulation) == []


def test_admission_that_is_slow_delays_and_breaks_nothing() -> None:
    simulation = two_sets()
    simulation.network.latency = 9.0
    simulation.edit(replicas(2), image("new"))
    for _ in range(30):
        simulation.let_pass(40)
        simulation.machines.tick()
    simulation.network.calm_down()
    simulation.settle()
    assert simulation.images("demo") == {"new"}
    assert len(serving(simulation)) == 3 * PODS_OF_A_REPLICA


@pytest.mark.parametrize("restarted", [False, True], ids=["", "and the operator starts anew"])
def test_a_namespace_that_goes_and_comes_again_has_what_is_declared_in_it(restarted: bool) -> None:
    simulation = two_sets()
    simulation.let_pass(1)
    before = look(simulation)
    namespace = simulation.world.get(NAMESPACES, NAMESPACE)
    simulation.world.put({**namespace, "metadata": {**namespace["metadata"], "deletionTimestamp": "2027-01-15T09:00:00Z"}})
    for kind in (SET, CLIQUE, GROUP, GANG, SERVICE, POD):  # as the namespace's controller does, in no order that anybody has promised
        for one in simulation.world.all(kind):
            simulation.world.delete(kind, one["metadata"]["name"])
    if restarted:
        simulation.operator.restart()
    simulation.settle()
    left = [ref for ref in simulation.world.cluster.store.objects if ref.namespace == NAMESPACE and ref.kind not in ("Event", "Lease")]
    assert left == []
    forget(simulation, namespace)
    for name in ("demo", "other"):
        simulation.world.apply(declared(name))
    simulation.settle()
    simulation.wait(A_WHILE)
    assert without_versions(differences(before, look(simulation))) == []
    assert len(serving(simulation)) == 2 * PODS_OF_A_REPLICA
    assert stalls(simulation) == []


def forget(simulation: Simulation, namespace: Manifest) -> None:
    """The namespace is gone, and one of its name comes."""
    metadata = {"name": namespace["metadata"]["name"]}
    del simulation.world.cluster.store.objects[simulation.world._ref(NAMESPACES, metadata["name"])]
    resource = simulation.world.cluster.kinds.get(NAMESPACES)
    at_once(simulation.world.cluster.create(resource, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, manager="somebody"))


def without_versions(lines: list[str]) -> list[str]:
    """Without names of pods, which are new ones."""
    return [line for line in lines if "podReferences" not in line]


@pytest.mark.parametrize("plural", ["pods", "podcliques", "services"])
def test_a_scale_in_that_admission_refuses_is_told_and_tried_with_pauses(plural: str) -> None:
    """Of a replica that is not declared any more, the set tells."""
    simulation = two_sets()
    simulation.edit(replicas(2))
    simulation.settle()
    simulation.world.cluster.fail(refusing(plural, "delete"), Invalid(422, "Invalid", "not today"), times=-1)
    before = len(simulation.world.cluster.log)
    simulation.edit(replicas(1))
    simulation.let_pass(60)
    tried = [one for one in simulation.world.cluster.log[before:] if one.verb == "delete" and one.resource.plural == plural]
    assert len(tried) < 20 * len({one.name for one in tried})
    assert ["not today" in one for one in stalls(simulation)] == [True]
    simulation.world.cluster.faults.clear()
    simulation.let_pass(RETRY)
    simulation.settle()
    assert len(serving(simulation)) == 2 * PODS_OF_A_REPLICA
    assert stalls(simulation) == []


def test_what_is_left_of_a_set_that_is_gone_and_cannot_be_let_go_is_tried_with_pauses() -> None:
    simulation = two_sets()
    for one in simulation.world.all(CLIQUE):
        simulation.world.put({**one, "metadata": {**one["metadata"], "finalizers": ["grove.io/podclique.grove.io"]}})
    simulation.settle()
    simulation.world.cluster.fail(refusing("podcliques", "patch"), Invalid(422, "Invalid", "not today"), times=-1)
    before = len(simulation.world.cluster.log)
    simulation.world.delete(SET, "demo")
    simulation.let_pass(1)
    simulation.machines.tick()  # the garbage collector
    simulation.let_pass(60)
    tried = [one for one in simulation.world.cluster.log[before:] if one.verb == "patch" and one.resource.plural == "podcliques"]
    assert 0 < len(tried) < 20 * len({one.name for one in tried})
    simulation.world.cluster.faults.clear()
    simulation.let_pass(RETRY)
    simulation.settle()
    assert [one for one in simulation.world.all(CLIQUE) if one["metadata"]["name"].startswith("demo-")] == []
