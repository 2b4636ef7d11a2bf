"""Whatever happens to a cluster, each step of its operator can be taken again elsewhere and decides the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grove_compiler.replay.bundle import RecordedStep, decode, encode
from grove_operator.controller.recorder import Retention, Trigger
from tests.replay.kept import again
from tests.simulation.drawn import schedule
from tests.simulation.schedules import play
from tests.simulation.sets import demo
from tests.simulation.simulation import Simulation, running
from tests.simulation.telling import telling
from tests.simulation.world import POD
from tests.suite.effort import runs
from tests.updates.test_immutable import at

LEAST = 10
"""Steps of a schedule, however short."""
LARGEST = 300_000
"""Bytes of a bundle of so small a set. Its replica has six pods, and what is asked about each is in it."""


@pytest.fixture
def all_closed() -> Iterator[None]:
    yield
    for one in list(Simulation.open):
        one.close()


class Kept:
    """Replays each step that is taken. `differing` are those that decide otherwise, `largest` is the size of the largest bundle."""

    def __init__(self) -> None:
        self.replayed, self.largest, self.differing = 0, 0, list[str]()

    def keep(self, taken: RecordedStep, _: Trigger) -> None:
        self.replayed += 1
        text = encode(taken)
        self.largest = max(self.largest, len(text))
        found = again(decode(text))
        if not found.is_equal:
            self.differing.append(f"{taken.key}: {found.missing} {found.decision}")

    @property
    def retention(self) -> Retention:
        return Retention(every=True, write=self.keep)


@pytest.mark.usefixtures("all_closed")
@pytest.mark.parametrize("number", telling(schedule, runs(6)))
def test_each_step_of_a_random_schedule_decides_the_same_again(number: int) -> None:
    kept = Kept()
    play(running(demo(replicas=2), retention=kept.retention), schedule(number))
    assert kept.differing == []
    assert kept.replayed >= LEAST
    assert kept.largest < LARGEST


@pytest.mark.usefixtures("all_closed")
def test_each_step_of_a_set_whose_edit_is_held_does_so() -> None:
    kept = Kept()
    simulation = running(demo(), retention=kept.retention)
    for edit in (at("spec/template/cliqueStartupType", "CliqueStartupTypeInOrder"), at("spec/template/terminationDelay", "soon")):
        simulation.edit(edit)
        simulation.settle()
        simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
        simulation.settle()
        simulation.operator.restart()
        simulation.settle()
    assert (kept.differing, kept.replayed >= LEAST) == ([], True)
