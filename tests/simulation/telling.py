"""Chooses which of many random schedules a run plays: those in which most kinds of events meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

MANY = 100
"""From so many on all are played, one after the other: by chance all has met."""
CANDIDATES = 8
"""Schedules of which one is chosen."""
END = 25
"""Events that cost as much as the end of a schedule does, in which all settles."""

Pairs = frozenset[tuple[str, ...]]


def telling(draw: Callable[[int], Sequence[object]], count: int, first: int = 0) -> Sequence[int]:
    """Returns the numbers of so many schedules from `first` on.

    Most of what schedules have found takes two kinds of events. Each number is that of the schedule with the most pairs that those before
    it have not, for what it costs; after a night's worth it is just the next one.
    """
    if count >= MANY:
        return range(first, first + count)
    left = {number: draw(number) for number in range(first, first + CANDIDATES * count)}
    pairs = {number: _pairs(events) for number, events in left.items()}
    chosen: list[int] = []
    met: set[tuple[str, ...]] = set()
    while len(chosen) < count:
        best = max(left, key=lambda number: (len(pairs[number] - met) / (END + len(left[number])), -number))
        del left[best]
        chosen.append(best)
        met |= pairs[best]
    return chosen


def _pairs(events: Sequence[object]) -> Pairs:
    kinds = sorted({type(event).__name__ for event in events})
    return frozenset(combinations_with_replacement(kinds, 2))
