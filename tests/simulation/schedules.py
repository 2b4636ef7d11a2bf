"""Random schedules: what people, machines and bad luck do to a running set. A schedule is a list that can be read, shrunk and replayed."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from tests.simulation.operator import Crash
from tests.simulation.sets import NAME, image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, SET


class Look(NamedTuple):
    """The operator takes the step of one key, the caches of some kinds being so many changes behind."""

    key: int
    pods_behind: int = 0
    children_behind: int = 0

    def happen(self, simulation: Simulation) -> None:
        keys = simulation.operator.due()
        lags = {"Pod": self.pods_behind, "PodClique": self.children_behind, "PodCliqueScalingGroup": self.children_behind}
        try:
            simulation.operator.look(keys[self.key % len(keys)], lags)
        except Crash:
            simulation.operator.restart()


class Tick(NamedTuple):
    """A second passes, and machines move pods on."""

    def happen(self, simulation: Simulation) -> None:
        simulation.world.now += 1
        simulation.machines.tick()


class Edit(NamedTuple):
    """Somebody changes what some cliques run."""

    tag: str
    cliques: tuple[int, ...]

    def happen(self, simulation: Simulation) -> None:
        simulation.edit(image(self.tag, *self.cliques))


class Scale(NamedTuple):
    """Somebody changes a number of replicas: of the set, of the front clique or of the scaling group of its first replica."""

    what: str
    number: int

    def happen(self, simulation: Simulation) -> None:
        kind, name = {"set": (SET, NAME), "clique": (CLIQUE, f"{NAME}-0-front"), "group": (GROUP, f"{NAME}-0-sg")}[self.what]
        if simulation.world.find(kind, name) is not None:
            simulation.edit(replicas(self.number), kind=kind, name=name)


class Lose(NamedTuple):
    """A pod is evicted, or its node goes."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.world.delete(POD, pods[self.pod % len(pods)]["metadata"]["name"])


class Fail(NamedTuple):
    """A pod is not ready any more, until the end of the schedule."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.machines.failing.add(pods[self.pod % len(pods)]["metadata"]["uid"])


class Die(NamedTuple):
    """The operator's process ends after so many more writes, and another one takes over."""

    writes: int

    def happen(self, simulation: Simulation) -> None:
        simulation.operator.writes_left = self.writes


Action = Look | Tick | Edit | Scale | Lose | Fail | Die

_looks = st.builds(Look, st.integers(0, 4), st.integers(0, 12), st.integers(0, 6))
_edits = st.builds(Edit, st.sampled_from(["second", "third", "broken", "busybox"]), st.sampled_from([(), (0,), (1,), (0, 1)]))
_scales = st.builds(Scale, st.sampled_from(["set", "clique", "group"]), st.integers(1, 4))
_pods = st.integers(0, 30)

schedules = st.lists(
    st.one_of(
        _looks, _looks, _looks, st.builds(Tick), st.builds(Tick), _edits, _scales,
        st.builds(Lose, _pods), st.builds(Fail, _pods), st.builds(Die, st.integers(0, 8)),
    ),
    max_size=60,
)  # fmt: skip
"""Most of what happens is that the operator looks and that pods move on: an edit alone is no race."""


def play(simulation: Simulation, schedule: list[Action]) -> None:
    """Lets all of a schedule happen, and then what is left to happen by itself; nobody's pods fail for ever."""
    for action in schedule:
        action.happen(simulation)
    simulation.machines.failing.clear()
    simulation.edit(image("last"))
    simulation.settle()
