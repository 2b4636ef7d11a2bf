"""Folds messages that many objects share: the first objects by name, the others as a count.

A missing namespace or permission fails a thousand objects for one reason. With a line for each, as in kubectl, other errors would scroll
off the screen. `-o json` and journals have every object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from applier.outcome import UNDONE, Step
from applier.ref import Ref
from grove_cli.cluster.session import say
from grove_cli.cluster.words import reason_of

T = TypeVar("T")

NAMED = 3
"""The number of objects with a line of their own."""

OTHERS = re.compile(r"\bwaits for .+, which ")
TIMES = re.compile(r" at \d{4}-\d\d-\d\dT[\d:.]+Z")


def alike(ref: Ref, why: str) -> str:
    """Returns a reason without the parts that differ between objects: their names, times, and the names of those that they wait for."""
    why = why.replace(f'"{ref.name}"', '"…"').replace(f"'{ref.name}'", "'…'").replace(str(ref), "…")
    return OTHERS.sub("waits for another, which ", TIMES.sub("", why))


class Folding:
    """Prints the first lines of each reason at once, and with `end` the number of the others."""

    def __init__(self, print_line: Callable[[str], None] = say, full: str = " (-o json names all)") -> None:
        """Takes the function that prints lines, and in `full` a hint where the full list is."""
        self._print, self._full = print_line, full
        self._alike: dict[str, list[str]] = {}
        self._more: dict[str, int] = {}

    def add(self, ref: Ref, why: str, line: str = "") -> None:
        """Adds an object with its reason. Its line is `REF: WHY` by default."""
        self.line(line or f"{ref}: {why}", alike(ref, why))

    def line(self, line: str, reason: str) -> None:
        """Adds a line with its reason."""
        lines = self._alike.setdefault(reason, [])
        if len(lines) < NAMED:
            self._print(line)
        if len(lines) <= NAMED:
            lines.append(line)
        else:
            self._more[reason] = self._more.get(reason, 1) + 1

    def end(self) -> None:
        """Prints the counts. A single further object is printed by name, which is as short."""
        for reason, lines in self._alike.items():
            if reason in self._more:
                self._print(f"and {self._more[reason]} more: {reason}{self._full}")
            elif len(lines) > NAMED:
                self._print(lines[NAMED])
        self._alike.clear()
        self._more.clear()


class More(NamedTuple):
    """The number of further objects like the previous one."""

    number: int
    reason: str


def folded(items: Sequence[T], step_of: Callable[[T], Step]) -> Iterable[T | More]:
    """Yields items, and of those that fail for the same reason only the first, followed by the number of the others."""
    groups: dict[tuple[str, int], list[int]] = {}
    for number, item in enumerate(items):
        step = step_of(item)
        if step.action in UNDONE:
            groups.setdefault((f"{step.action}: {alike(step.ref, reason_of(step))}", step.wave), []).append(number)
    more: dict[int, More] = {}
    omitted: set[int] = set()
    for (reason, _), numbers in groups.items():
        if len(numbers) > NAMED + 1:
            more[numbers[NAMED - 1]] = More(len(numbers) - NAMED, reason)
            omitted.update(numbers[NAMED:])
    for number, item in enumerate(items):
        if number not in omitted:
            yield item
        if number in more:
            yield more[number]
