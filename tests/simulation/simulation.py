"""A world with machines and operators in it, run until nothing happens any more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import ClassVar

from applier.ref import Kind, Manifest
from applier.testing.virtual_time import VirtualTimeLoop
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.controller.recorder import Retention
from tests.simulation.admission import Admission
from tests.simulation.machines import Machines
from tests.simulation.network import Network
from tests.simulation.operator import Operator
from tests.simulation.sets import NAME, demo
from tests.simulation.world import SET, Moment, World
from tests.step.world import context

MAX_ROUNDS = 400
SECONDS_A_ROUND = 1.2
"""More than bad news waits before it is told."""
MOMENT = 0.3
"""Seconds, longer than a set rests between two looks at it. Where answers come at once an operator needs no time for all else."""


PLATFORM = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}], "defaultProfileName": "default-scheduler"},
    "network": {"autoMNNVLEnabled": True},
}
"""What an operator here is configured for: of what sets ask for all is there."""


class NeverSettles(AssertionError):
    """Things go on happening although nobody does anything."""


class Simulation:
    """Everything that there is. With two `candidates` there are two operators, of which one leads.

    Each has an event loop of its own, whose time passes only in the methods here. To be closed; `conftest.py` closes what tests leave.
    """

    open: ClassVar[list[Simulation]] = []

    def __init__(
        self,
        shared: StepContext | None = None,
        room: int = 1000,
        *,
        candidates: int = 1,
        moment: Moment | None = None,
        retention: Retention | None = None,
    ) -> None:
        self.loop = VirtualTimeLoop()
        self.open.append(self)
        self.world = World(self.loop.time)
        if moment is not None:
            self.world.resume(moment)
        self.machines = Machines(self.world, room)
        self.admission = Admission(self.world)
        self.network = Network(self.world)
        names = [""] if candidates == 1 else [f"candidate-{number}" for number in range(candidates)]
        self.operators = [
            Operator(
                self.network, shared or context(Settings(pods=True, kube_version="1.35"), Document(PLATFORM)), self.loop, name, retention
            )
            for name in names
        ]
        self.operator = self.operators[0]

    def close(self) -> None:
        """Ends all processes. What is in the cluster can still be read."""
        if not self.loop.is_closed():
            for one in self.operators:
                one.kill()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()
            self.open.remove(self)

    def edit(self, *edits: Callable[[Manifest], None], kind: Kind = SET, name: str = NAME) -> None:
        """Somebody edits an object, the set unless said otherwise."""
        for one in edits:
            self.world.change(kind, name, one)

    def deleted(self, reason: str) -> list[str]:
        """The names of what operators have deleted for a reason, in order."""
        return [ref.name for operator in self.operators for ref, why in operator.deleted if why == reason]

    def images(self, prefix: str = "") -> set[str]:
        """The images of all pods whose names begin so."""
        return {one["spec"]["containers"][0]["image"] for one in self.world.pods(prefix)}

    def status(self, kind: Kind = SET, name: str = NAME) -> Manifest:
        status: Manifest = self.world.get(kind, name).get("status", {})
        return status

    def let_pass(self, seconds: float) -> None:
        """Time passes, and operators work, while machines stand still. Raises what was done wrong; who has died is replaced."""
        self.loop.run_until_complete(asyncio.sleep(seconds))
        for one in self.operators:
            if one.has_died:
                one.restart()
            if one.mistakes:
                raise one.mistakes[0]
        if self.network.is_flooded:
            raise NeverSettles(f"the operator sends requests without end; last: {self.world.cluster.log[-10:]}")

    def run_operator(self) -> bool:
        """Lets operators work until they have nothing to write any more, and says whether they wrote anything."""
        began = self.world.version
        for _ in range(MAX_ROUNDS):
            before, processes = self.world.version, sum(one.processes for one in self.operators)
            self.let_pass(MOMENT)
            is_same = self.world.version == before and processes == sum(one.processes for one in self.operators)
            leaders = [one for one in self.operators if one.leads]
            if is_same and leaders and all(one.is_idle for one in leaders):
                return self.world.version != began
        raise NeverSettles(f"the operator writes without end; last: {self.world.cluster.log[-10:]}")

    def settle(self) -> None:
        """Lets all go on until nothing happens any more. Deadlines do not pass: see `wait`."""
        for _ in self.rounds():
            pass

    def rounds(self) -> Iterator[None]:
        """Settles, and yields in each round after operators have done all that they can, before machines move on."""
        for _ in range(MAX_ROUNDS):
            before = self.world.version
            self.run_operator()
            self.let_pass(SECONDS_A_ROUND)
            worked = self.world.version != before
            yield
            if not self.machines.tick() and not worked:
                return
        raise NeverSettles("the world does not come to rest")

    def wait(self, seconds: float) -> None:
        """Lets time pass, and then all go on."""
        self.let_pass(seconds)
        self.settle()


@cache
def _running(set: str, room: int) -> Moment:
    simulation = Simulation(room=room)
    simulation.world.apply(json.loads(set))
    simulation.settle()
    simulation.wait(60)  # so that what changes from here on is told from how it began
    simulation.close()
    return simulation.world.moment()


def running(set: Manifest | None = None, room: int = 1000, *, candidates: int = 1, retention: Retention | None = None) -> Simulation:
    """A simulation in which a set runs, all of it ready. It is brought to there once for each set."""
    return Simulation(room=room, candidates=candidates, moment=_running(json.dumps(set or demo()), room), retention=retention)
