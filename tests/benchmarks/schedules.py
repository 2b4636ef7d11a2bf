"""Plays random schedules by number, and shortens those that go wrong: `python -m tests.benchmarks.schedules FROM TO [OPERATORS]`.

They are those of `tests/simulation/test_simulation.py`, which plays the first few. Numbers can be shared out among processes and nights.
Each that goes wrong is printed with the events that matter, to be added to `FOUND` there. Ends with 1 where there is one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.benchmarks.measure import machine
from tests.simulation.drawn import schedule
from tests.simulation.schedules import Action
from tests.simulation.shorten import shortened
from tests.simulation.simulation import Simulation, running
from tests.simulation.test_simulation import demo_set, play_and_compare


def wrong(events: Sequence[Action], operators: int) -> str:
    """What goes wrong with a schedule; empty where nothing does. Errors that nobody has foreseen are wrong, too."""
    try:
        play_and_compare(running(demo_set(), candidates=operators), events)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        for one in list(Simulation.open):
            one.close()
    return ""


def main(first: int, last: int, operators: int) -> int:
    print(f"{machine()}\n")
    began, found = time.monotonic(), 0
    for number in range(first, last):
        if message := wrong(events := schedule(number), operators):
            found += 1
            print(f"{number}: {message.splitlines()[0]}", flush=True)
            few = shortened(events, lambda part: bool(wrong(part, operators)))
            print(f"  [{', '.join(map(str, few))}]", flush=True)
        if number % 100 == 99:
            print(f"{number + 1 - first:,} schedules in {time.monotonic() - began:,.0f} s, {found} went wrong", flush=True)
    print(f"{last - first:,} schedules of {operators} operator{'s' * (operators > 1)}, {found} went wrong")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 1))
