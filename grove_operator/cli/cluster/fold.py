"""What is said of many objects alike, said once: the first of them by name, the rest as a number.

A missing namespace or permission fails a thousand objects for one reason. A line for each of them, as kubectl has it, would bury what else
went wrong, and the end of a run is all that is left on a screen. `-o json` and journals have every object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from applier.outcome import UNDONE, Step
from applier.ref import Ref
from grove_operator.cli.cluster.session import say
from grove_operator.cli.cluster.words import reason_of

T = TypeVar("T")

NAMED = 3
"""How many objects are named before the rest is only counted."""

OTHERS = re.compile(r"\bwaits for .+, which ")
TIMES = re.compile(r" at \d{4}-\d\d-\d\dT[\d:.]+Z")


def alike(ref: Ref, why: str) -> str:
    """Returns a reason without what differs from object to object: its own name, times, and for what exactly it waits."""
    why = why.replace(f'"{ref.name}"', '"…"').replace(f"'{ref.name}'", "'…'").replace(str(ref), "…")
    return OTHERS.sub("waits for another, which ", TIMES.sub("", why))


class Folding:
    """Lines of objects with reasons. The first of each reason are told at once; `end` tells of how many there are more."""

    def __init__(self, tell: Callable[[str], None] = say, full: str = " (-o json names all)") -> None:
        """Takes how lines are told, and in `full` where the full list is."""
        self._tell, self._full = tell, full
        self._alike: dict[str, list[str]] = {}
        self._more: dict[str, int] = {}

    def add(self, ref: Ref, why: str, line: str = "") -> None:
        """Takes one object more, and its line where that is another than `REF: WHY`."""
        self.line(line or f"{ref}: {why}", alike(ref, why))

    def line(self, line: str, reason: str) -> None:
        """Takes one line more of those that have this reason."""
        told = self._alike.setdefault(reason, [])
        if len(told) < NAMED:
            self._tell(line)
        if len(told) <= NAMED:
            told.append(line)
        else:
            self._more[reason] = self._more.get(reason, 1) + 1

    def end(self) -> None:
        """Tells of what was only counted. One object more is named: a number would be as long."""
        for reason, told in self._alike.items():
            if reason in self._more:
                self._tell(f"and {self._more[reason]} more: {reason}{self._full}")
            elif len(told) > NAMED:
                self._tell(told[NAMED])
        self._alike.clear()
        self._more.clear()


class More(NamedTuple):
    """Stands for so many objects like the one before."""

    number: int
    reason: str


def folded(items: Sequence[T], step_of: Callable[[T], Step]) -> Iterable[T | More]:
    """Yields the items, those that are not done for one same reason only as far as they are named.

    What is more of them stands behind the last.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for number, item in enumerate(items):
        step = step_of(item)
        if step.action in UNDONE:
            groups.setdefault((f"{step.action}: {alike(step.ref, reason_of(step))}", step.wave), []).append(number)
    more: dict[int, More] = {}
    left_out: set[int] = set()
    for (reason, _), numbers in groups.items():
        if len(numbers) > NAMED + 1:
            more[numbers[NAMED - 1]] = More(len(numbers) - NAMED, reason)
            left_out.update(numbers[NAMED:])
    for number, item in enumerate(items):
        if number not in left_out:
            yield item
        if number in more:
            yield more[number]
