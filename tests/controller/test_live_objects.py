"""What a step asks of the cluster, it asks once; who asks for longer sees what changes."""

from __future__ import annotations

from applier.loop import View
from grove_compiler.step import Key
from grove_operator.controller.live_objects import LiveObjects
from tests.simulation.sets import NAME, demo, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, NAMESPACE

CLIQUE_NAME = f"{NAME}-0-front"


def declared(objects: LiveObjects) -> int:
    live = objects.get(CLIQUE.group, CLIQUE.kind, NAMESPACE, CLIQUE_NAME)
    assert live is not None
    return int(live["spec"]["replicas"])


def scaled(simulation: Simulation, number: int) -> None:
    simulation.edit(replicas(number), kind=CLIQUE, name=CLIQUE_NAME)
    simulation.settle()


def test_who_asks_outside_of_a_step_sees_what_has_changed() -> None:
    simulation = running(demo())
    objects = LiveObjects(View(simulation.operator.process.cache))
    scaled(simulation, 3)
    assert declared(objects) == 3
    scaled(simulation, 4)
    assert declared(objects) == 4
    simulation.close()


def test_a_step_sees_one_state() -> None:
    simulation = running(demo())
    scaled(simulation, 3)
    objects = LiveObjects.for_step(View(simulation.operator.process.cache), Key("PodCliqueSet", NAMESPACE, NAME, 0))
    assert declared(objects) == 3
    scaled(simulation, 4)
    assert declared(objects) == 3
    simulation.close()
