"""A pod that replaces another one has another name: clients and tests take a new name to mean a new pod."""

from __future__ import annotations

import pytest

from applier.ref import Ref
from tests.model.sets import clique, pcs
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, POD

WORKER = "demo-0-worker"


def service(replicas: int = 3) -> Simulation:
    return running(pcs([clique("worker", replicas)]))


def name_of(simulation: Simulation, index: int) -> str:
    [name] = [pod["metadata"]["name"] for pod in simulation.world.pods(WORKER) if pod["spec"]["hostname"] == f"{WORKER}-{index}"]
    return str(name)


def force(simulation: Simulation, index: int) -> str:
    """Somebody deletes a pod by force: it is gone at once. Returns its name."""
    name = name_of(simulation, index)
    simulation.world.cluster.store.remove(Ref(POD.group, POD.kind, "default", name))
    return name


def seconds_in_status(simulation: Simulation) -> None:
    """Time in which statuses that are held back for a moment are written."""
    simulation.let_pass(8)
    simulation.settle()


def test_a_pod_that_was_deleted_by_force_is_replaced_under_another_name_each_time() -> None:
    simulation = service()
    had = [name_of(simulation, 1)]
    for _ in range(6):
        force(simulation, 1)
        simulation.settle()
        had.append(name_of(simulation, 1))
    assert len(set(had)) == len(had)


@pytest.mark.parametrize("when", ["before", "while it is down", "after", "each time"])
def test_an_operator_that_starts_anew_knows_which_name_was_the_last_one(when: str) -> None:
    simulation = service()
    seconds_in_status(simulation)
    had = [name_of(simulation, 1)]
    for turn in range(3):
        if when in ("before", "each time"):
            simulation.operator.restart()
        if when == "while it is down":
            simulation.operator.kill()
        force(simulation, 1)
        if when == "while it is down":
            simulation.operator.start()
        if when == "after":
            simulation.operator.restart()
        simulation.settle()
        seconds_in_status(simulation)
        had.append(name_of(simulation, 1))
        assert had[turn] != had[turn + 1]
    assert len(set(had)) == len(had)


def test_a_pod_that_goes_before_all_have_started_has_another_name_afterwards() -> None:
    simulation = Simulation(room=2)
    simulation.world.apply(pcs([clique("worker", 3)]))
    simulation.run_operator()
    had = force(simulation, 2)
    simulation.run_operator()
    assert name_of(simulation, 2) != had


def test_pods_of_a_gone_podclique_begin_anew() -> None:
    simulation = service()
    first = name_of(simulation, 1)
    force(simulation, 1)
    simulation.settle()
    simulation.world.delete(CLIQUE, WORKER)
    simulation.settle()
    assert len(simulation.world.pods(WORKER)) == 3
    assert "podNameCounts" in simulation.status(CLIQUE, WORKER)
    assert name_of(simulation, 1) == first


def test_what_is_scaled_out_again_has_other_names_than_what_was_scaled_in() -> None:
    simulation = service()
    seconds_in_status(simulation)
    had = name_of(simulation, 2)
    for replicas in (2, 3):
        simulation.edit(lambda one, replicas=replicas: one["spec"].update(replicas=replicas), kind=CLIQUE, name=WORKER)  # type: ignore[misc]
        simulation.settle()
        seconds_in_status(simulation)
    assert name_of(simulation, 2) != had


def test_a_pod_that_is_refused_is_tried_again_under_its_name() -> None:
    """A new name for each try would write the gang each time."""
    simulation = service()
    seconds_in_status(simulation)
    had = force(simulation, 1)
    simulation.network.failures = 3
    tried = {request.name for request in simulation.world.cluster.log if request.verb == "create" and request.resource.kind == POD}
    simulation.settle()
    names = {request.name for request in simulation.world.cluster.log if request.verb == "create" and request.resource.kind == POD} - tried
    assert names == {name_of(simulation, 1)} != {had}


def test_the_record_is_written_with_the_statuses_that_are_written_anyway() -> None:
    simulation = service(5)
    seconds_in_status(simulation)
    assert simulation.status(CLIQUE, WORKER)["podNameCounts"] == [{"count": 1, "indexes": "0-4"}]
    before = simulation.world.version
    for index in (1, 3):
        force(simulation, index)
    simulation.settle()
    seconds_in_status(simulation)
    assert simulation.status(CLIQUE, WORKER)["podNameCounts"] == [{"count": 1, "indexes": "0,2,4"}, {"count": 2, "indexes": "1,3"}]
    changes = [(old, new) for ref, old, new in simulation.world.changes_since(before) if ref.name == WORKER and old and new]
    statuses = [[{**one["status"]} for one in change] for change in changes]
    renamed = [(old, new) for old, new in statuses if old.pop("podNameCounts") != new.pop("podNameCounts")]
    assert [old != new for old, new in renamed] == [True], "one write, which reports something else as well"
