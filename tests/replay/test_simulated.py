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
from tests.suite.effort import runs

LEAST = 10
"""Steps of a schedule, however short."""
LARGEST = 300_000
"""Bytes of a bundle of so small a set. Its replica has six pods, and what is asked about each is in it."""


@pytest.fixture
def all_closed() -> Iterator[None]:
    yield
    for one in list(Simulation.open):
        one.close()


@pytest.mark.usefixtures("all_closed")
@pytest.mark.parametrize("number", telling(schedule, runs(6)))
def test_each_step_of_a_random_schedule_decides_the_same_again(number: int) -> None:
    replayed, differing, largest = 0, list[str](), 0

    def keep(taken: RecordedStep, _: Trigger) -> None:
        nonlocal replayed, largest
        replayed += 1
        text = encode(taken)
        largest = max(largest, len(text))
        found = again(decode(text))
        if not found.is_equal:
            differing.append(f"{taken.key}: {found.missing} {found.decision}")

    play(running(demo(replicas=2), retention=Retention(every=True, write=keep)), schedule(number))
    assert differing == []
    assert replayed >= LEAST
    assert largest < LARGEST
