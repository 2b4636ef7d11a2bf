"""Plays random schedules by number, and shortens those that go wrong: `python -m tests.benchmarks.schedules FROM TO [KIND]`.

They are those of `tests/simulation/test_simulation.py`, which plays the first few, and of each of its kinds without KIND. Numbers can be
shared out among processes and nights. Each that goes wrong is printed with the events that matter, to be added to `FOUND` there. Ends with
1 where there is one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from applier.ref import Manifest
from tests.benchmarks.measure import machine
from tests.simulation.drawn import edited_schedule, forged_schedule, refused_schedule, resized_schedule, schedule
from tests.simulation.schedules import Action
from tests.simulation.sets import equipped
from tests.simulation.shorten import shortened
from tests.simulation.simulation import Simulation, running
from tests.simulation.test_simulation import demanding_set, demo_set, play_and_compare

KINDS: dict[str, tuple[Callable[[], Manifest], int, Callable[[int], list[Action]]]] = {
    "plain": (demo_set, 1, schedule),
    "two-operators": (demo_set, 2, schedule),
    "refused": (demo_set, 1, refused_schedule),
    "demanding": (demanding_set, 1, refused_schedule),
    "edited": (demo_set, 1, edited_schedule),
    "demanding-edited": (demanding_set, 1, edited_schedule),
    "resized": (demo_set, 1, resized_schedule),
    "forged": (demo_set, 1, forged_schedule),
    "demanding-forged": (demanding_set, 1, forged_schedule),
    "equipped": (equipped, 1, schedule),
    "equipped-edited": (equipped, 1, edited_schedule),
}
"""What is played: the set, the number of operators, and what draws schedules."""


def wrong(events: Sequence[Action], kind: str) -> str:
    """What goes wrong with a schedule; empty where nothing does. Errors that nobody has foreseen are wrong, too."""
    made, operators, _ = KINDS[kind]
    try:
        play_and_compare(running(made(), candidates=operators), events)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        for one in list(Simulation.open):
            one.close()
    return ""


def played(kind: str, first: int, last: int) -> int:
    """Plays the schedules of a kind, and returns how many went wrong."""
    began, found = time.monotonic(), 0
    for number in range(first, last):
        if message := wrong(events := KINDS[kind][2](number), kind):
            found += 1
            print(f"{kind} {number}: {message.splitlines()[0]}", flush=True)
            few = shortened(events, lambda part: bool(wrong(part, kind)))
            print(f"  [{', '.join(map(str, few))}]", flush=True)
        if number % 100 == 99:
            print(f"{kind}: {number + 1 - first:,} schedules in {time.monotonic() - began:,.0f} s, {found} went wrong", flush=True)
    print(f"{kind}: {last - first:,} schedules, {found} went wrong", flush=True)
    return found


def main(first: int, last: int, *kinds: str) -> int:
    print(f"{machine()}\n")
    return int(sum([played(kind, first, last) for kind in kinds or KINDS]) > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
