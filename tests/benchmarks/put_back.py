"""Looks for schedules that show faults put back on purpose: `python -m tests.benchmarks.put_back [SCHEDULES]`, 2,000 unless told.

For each fault of `tests/simulation/test_put_back.py` it plays random schedules until one goes wrong, and shrinks that one. Ends with 1
where a fault is not found, or takes ten events or more.
"""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from grove_compiler.engine.runtime.program import Program
from tests.benchmarks.measure import machine, table
from tests.simulation.schedules import Action, play, schedules
from tests.simulation.test_put_back import FAULTS, MOST_EVENTS, Fault, world

MOST = 2_000


def shows(schedule: list[Action], program: Program) -> bool:
    """Whether a schedule goes wrong with this program."""
    simulation = world(program)
    try:
        play(simulation, schedule)
    except AssertionError:
        return True
    finally:
        simulation.close()
    return False


def shortest(fault: Fault, most: int) -> list[Action] | None:
    """The shortest schedule that was found; none where none of so many goes wrong."""
    program = fault.program()
    chosen = settings(
        max_examples=most, database=None, deadline=None, phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck)
    )
    with pytest.MonkeyPatch.context() as patch:
        fault.patch(patch)
        try:
            return find(schedules, lambda schedule: shows(schedule, program), settings=chosen)
        except NoSuchExample:
            return None


def main(most: int) -> int:
    print(f"{machine()}\n")
    rows, found = [], []
    for name, fault in FAULTS.items():
        began = time.monotonic()
        schedule = shortest(fault, most)
        found.append(schedule is not None and len(schedule) < MOST_EVENTS)
        events = "not found" if schedule is None else f"{len(schedule)}: {', '.join(map(str, schedule))}"
        rows.append([name, f"{time.monotonic() - began:.0f}", events])
    print(table(["fault", "s", "events"], rows))
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else MOST))
