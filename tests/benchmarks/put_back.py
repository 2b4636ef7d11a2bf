"""Looks for schedules that show faults put back on purpose: `python -m tests.benchmarks.put_back [SCHEDULES [TEXT]]`, 2,000 unless told.

For each fault of `tests/simulation/test_put_back.py`, or each whose name has this text, it plays random schedules until one goes wrong, and
shortens that one. Ends with 1 where a fault is not found, or takes ten events or more.
"""

from __future__ import annotations

import sys
import time

import pytest

from grove_compiler.engine.runtime.program import Program
from tests.benchmarks.measure import machine, table
from tests.simulation.schedules import Action
from tests.simulation.shorten import shortened
from tests.simulation.test_put_back import ALL, MAX_EVENTS, Fault, play_to_the_end, world

MOST = 2_000


def goes_wrong(events: list[Action], fault: Fault, program: Program) -> bool:
    """Whether a schedule goes wrong with the program that has the fault."""
    simulation = world(fault, program)
    try:
        play_to_the_end(simulation, events)
    except AssertionError:
        return True
    finally:
        simulation.close()
    return False


def shortest(fault: Fault, most: int) -> tuple[int, list[Action] | None]:
    """How many schedules it took, and the events of the one that went wrong; none where none of so many does."""
    program = fault.program()
    with pytest.MonkeyPatch.context() as patch:
        fault.patch(patch)
        for number in range(most):
            if goes_wrong(events := fault.draw(number), fault, program):
                return number + 1, shortened(events, lambda part: goes_wrong(part, fault, program))
    return most, None


def main(most: int, part: str = "") -> int:
    print(f"{machine()}\n")
    rows, found = [], []
    for name, fault in [(name, fault) for name, fault in ALL.items() if part in name]:
        began = time.monotonic()
        tried, events = shortest(fault, most)
        found.append(events is not None and len(events) < MAX_EVENTS)
        text = "not found" if events is None else f"{len(events)}: {', '.join(map(str, events))}"
        rows.append([name, str(tried), f"{time.monotonic() - began:.0f}", text])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    print(table(["fault", "schedules", "s", "events"], rows))
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else MOST, *sys.argv[2:3]))
