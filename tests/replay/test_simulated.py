"""Whatever happens to a cluster, each step of its operator can be taken again elsewhere and decides the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from grove_compiler.replay.bundle import RecordedStep, decode, encode
from grove_operator.controller.recorder import Retention, Trigger
from tests.replay.kept import again
from tests.simulation.schedules import Action, play, schedules
from tests.simulation.sets import demo
from tests.simulation.simulation import Simulation, running
from tests.suite.effort import runs

LEAST = 1000
LARGEST = 300_000
"""Bytes of a bundle of so small a set. Its replica has six pods, and what is asked about each is in it."""


@pytest.fixture
def all_closed() -> Iterator[None]:
    yield
    for one in list(Simulation.open):
        one.close()


@pytest.mark.usefixtures("all_closed")
def test_a_thousand_steps_of_random_schedules_decide_the_same_again() -> None:
    replayed, differing, largest = 0, list[str](), 0

    def keep(taken: RecordedStep, _: Trigger) -> None:
        nonlocal replayed, largest
        replayed += 1
        text = encode(taken)
        largest = max(largest, len(text))
        found = again(decode(text))
        if not found.is_equal:
            differing.append(f"{taken.key}: {found.missing} {found.decision}")

    @settings(max_examples=runs(12), database=None, suppress_health_check=list(HealthCheck))
    @given(schedules)
    def live(schedule: list[Action]) -> None:
        simulation = running(demo(replicas=2), retention=Retention(every=True, write=keep))
        play(simulation, schedule)
        simulation.close()

    live()
    assert differing == []
    assert replayed >= LEAST
    assert largest < LARGEST
