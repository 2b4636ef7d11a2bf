"""A world with machines and an operator in it, run until nothing happens any more."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from applier.ref import Kind, Manifest
from grove_compiler.step import Context
from tests.simulation.machines import Machines
from tests.simulation.operator import Crash, Operator
from tests.simulation.sets import NAME, demo
from tests.simulation.world import SET, World
from tests.step.world import context

MOST_ROUNDS = 400
SECONDS_A_ROUND = 1.0


class Restless(AssertionError):
    """Things go on happening although nobody does anything."""


class Simulation:
    """Everything that there is."""

    def __init__(self, shared: Context | None = None, room: int = 1000) -> None:
        self.world = World()
        self.machines = Machines(self.world, room)
        self.operator = Operator(self.world, shared or context())

    def edit(self, *edits: Callable[[Manifest], None], kind: Kind = SET, name: str = NAME) -> None:
        """Somebody edits an object, the set unless said otherwise."""
        for one in edits:
            self.world.change(kind, name, one)

    def deleted(self, reason: str) -> list[str]:
        """The names of what the operator has deleted for a reason, in order."""
        return [ref.name for ref, why in self.operator.deleted if why == reason]

    def images(self, prefix: str = "") -> set[str]:
        """The images of all pods whose names begin so."""
        return {one["spec"]["containers"][0]["image"] for one in self.world.pods(prefix)}

    def status(self, kind: Kind = SET, name: str = NAME) -> Manifest:
        status: Manifest = self.world.get(kind, name).get("status", {})
        return status

    def run_operator(self) -> bool:
        """Brings all keys to where nothing is to be written any more, and says whether anything was."""
        worked = False
        for _ in range(MOST_ROUNDS):
            try:
                wrote = [self.operator.look(key) for key in self.operator.due()]
                if not any(wrote):
                    return worked
            except Crash:
                self.operator.restart()
            worked = True
        raise Restless(f"the operator writes without end; last: {self.world.cluster.log[-10:]}")

    def settle(self) -> None:
        """Lets all go on until nothing happens any more. Deadlines do not pass: see `wait`."""
        for _ in range(MOST_ROUNDS):
            worked = self.run_operator()
            self.world.now += SECONDS_A_ROUND
            if not self.machines.tick() and not worked:
                return
        raise Restless("the world does not come to rest")

    def wait(self, seconds: float) -> None:
        """Lets time pass, and then all go on."""
        self.world.now += seconds
        self.settle()


@cache
def _running(set: str, room: int) -> Simulation:
    simulation = Simulation(room=room)
    simulation.world.apply(json.loads(set))
    simulation.settle()
    simulation.wait(60)  # so that what changes from here on is told from how it began
    return simulation


def running(set: Manifest | None = None, room: int = 1000) -> Simulation:
    """A simulation in which a set runs, all of it ready. Starting it takes seconds, so it is done once for each set."""
    started = _running(json.dumps(set or demo()), room)
    simulation = Simulation(room=room)  # with a memory of its own: in another world the same generation may say something else
    simulation.world.take_over(started.world)
    simulation.operator.restart()
    return simulation
