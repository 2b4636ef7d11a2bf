"""A pod never has the name of the one that it replaces, also where the PodClique of both has gone meanwhile: a new name means a new pod."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.errors import Forbidden
from tests.simulation.sets import PRE, demo, image, size
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, SET


def remade(simulation: Simulation) -> None:
    """Somebody replaces the set by one of its name, as `kubectl replace --force` does."""
    simulation.world.delete(SET, "demo")
    simulation.settle()
    simulation.world.apply(demo())


def scale(simulation: Simulation, replicas: int) -> None:
    """Somebody scales the scaling group."""
    simulation.edit(lambda group: group["spec"].update(replicas=replicas), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    simulation.wait(60)


def scaled_to_none_and_back(simulation: Simulation) -> None:
    scale(simulation, 0)
    scale(simulation, 3)


ENDS: dict[str, Callable[[Simulation], None]] = {
    "a PodClique that somebody deletes": lambda simulation: simulation.world.delete(CLIQUE, "demo-0-front"),
    "a PodClique of a scaling group": lambda simulation: simulation.world.delete(CLIQUE, "demo-0-sg-1-pre"),
    "a PodClique that goes after its pods": lambda simulation: simulation.world.delete(CLIQUE, "demo-0-front", "Foreground"),
    "a scaling group that somebody deletes": lambda simulation: simulation.world.delete(GROUP, "demo-0-sg"),
    "PodCliques of another size, in an update": lambda simulation: simulation.edit(size(3, PRE), image("new", PRE)),
    "a set that is replaced by another one": remade,
    "a scaling group that is scaled to none and back": scaled_to_none_and_back,
}


def named(simulation: Simulation) -> dict[str, tuple[str, str]]:
    """The name and the UID of each pod, by its hostname."""
    return {pod["spec"]["hostname"]: (pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in simulation.world.pods()}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_what_is_made_anew_has_pods_of_other_names(end: Callable[[Simulation], None]) -> None:
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.settle()
    simulation.wait(60)
    before = named(simulation)
    end(simulation)
    simulation.settle()
    simulation.wait(120)
    after = named(simulation)
    replaced = [host for host in before if before[host][1] != after[host][1]]
    assert replaced
    assert [host for host in replaced if before[host][0] == after[host][0]] == []


def test_a_pod_that_waits_for_a_quota_has_the_name_that_its_gang_tells_for_any_process() -> None:
    """The next operator has not seen the pod that it replaces, and would give it that one's name."""
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.settle()
    simulation.wait(60)
    before = named(simulation)
    simulation.admission.quota = len(before) - 1
    simulation.world.delete(POD, before["demo-0-front-0"][0])
    simulation.settle()
    gang = simulation.world.get(GANG, "demo-0")["spec"]
    simulation.operator.restart()
    simulation.settle()
    assert simulation.world.get(GANG, "demo-0")["spec"] == gang
    simulation.admission.calm_down()
    simulation.wait(120)
    assert before.keys() == named(simulation).keys()
    assert named(simulation)["demo-0-front-0"][0] != before["demo-0-front-0"][0]


@pytest.mark.parametrize("host", ["demo-0-front-0", "demo-0-sg-0-pre-0", "demo-0-sg-2-pre-0"])
def test_a_pod_that_goes_while_no_operator_runs_is_replaced_by_one_of_another_name(host: str) -> None:
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.settle()
    simulation.wait(60)
    before = named(simulation)
    simulation.operator.kill()
    simulation.world.delete(POD, before[host][0])
    simulation.machines.tick()
    assert host not in named(simulation)
    simulation.operator.start()
    simulation.settle()
    simulation.wait(60)
    after = named(simulation)
    assert [name for name in before if before[name] != after[name]] == [host]
    assert after[host][0] != before[host][0]


def test_names_that_a_gang_tells_of_a_group_that_is_scaled_to_none_are_those_of_any_process() -> None:
    """No pod will have them soon, and an operator that starts, or leads next, has not seen those of former pods."""
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.settle()
    scale(simulation, 0)
    writes = simulation.operator.writes
    simulation.operator.restart()
    simulation.settle()
    simulation.wait(60)
    assert simulation.operator.writes == writes


def test_so_are_those_of_a_gang_that_could_not_be_written_before_the_pods_had_gone() -> None:
    """It tells the names of the former pods until then, which the next pods would get from an operator that has not seen these."""
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.settle()
    simulation.wait(60)
    first = named(simulation)["demo-0-sg-0-pre-0"]
    simulation.edit(image("new", PRE))
    simulation.settle()
    simulation.wait(120)
    before = named(simulation)["demo-0-sg-0-pre-0"]
    is_denied = [True]
    denied = Forbidden(403, "Forbidden", "denied")
    simulation.world.cluster.fail(lambda one: one.writes and one.resource.kind == GANG and is_denied[0], denied, times=-1)
    scale(simulation, 0)
    is_denied[0] = False
    simulation.wait(60)
    gang = simulation.world.get(GANG, "demo-0")["spec"]["podgroups"]
    told = {one["name"] for group in gang if group["name"] == "demo-0-sg-0-pre" for one in group["podReferences"]}
    assert first[0] in told
    assert before[0] not in told


@pytest.mark.parametrize("name", ["of, others", "in (", ""])
def test_an_operator_starts_beside_a_gang_whose_group_has_a_name_that_is_no_label(name: str) -> None:
    """Anybody may write gangs, and the definition allows any name in them."""
    simulation = running()
    group = {"name": name, "podReferences": [], "minReplicas": 1}
    foreign = {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "spec": {"podgroups": [group]}}
    simulation.world.cluster.seed({**foreign, "metadata": {"name": "theirs", "namespace": "default"}})
    simulation.operator.restart()
    simulation.edit(image("new", PRE))
    simulation.settle()
    simulation.wait(60)
    assert any("new" in one for one in simulation.images())
