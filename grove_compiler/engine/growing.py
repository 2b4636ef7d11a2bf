"""Lists that grow and shrink at their end: what was made for the items that stay need not be made again.

An item of such a list follows from its position and from inputs that are no length. So whatever a rule made for it holds for every
length, provided that nobody learned of the length meanwhile: neither the rule nor what it called. That is observed, not assumed:
each time anybody looks at the length, the mark that `Growing.mark` gives becomes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Items = Callable[[], Sequence[Any]]


@dataclass(slots=True, eq=False)
class Growing:
    """The list that the outermost loop of a rule may go through: its expression, and the mark of looks at its length.

    What was worked out with a look must not be kept where it can be had again without one.
    """

    expression: str
    mark: Callable[[], object]


@dataclass(slots=True, eq=False)
class Made:
    """What a rule made: `output[ends[i - 1]:ends[i]]` belongs to the item `i`. `blind` says that nobody looked at the length."""

    output: list[Any] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    blind: bool = False


@dataclass(slots=True, eq=False)
class Record:
    """What all rules of one verb made for one input, by the rule's position. `former` is that of an input equal but for the length."""

    former: Record | None = None
    made: dict[int, Made] = field(default_factory=dict)


class Loop:
    """The outermost loop of one rule: reuses what holds, and yields the items for which there is nothing yet.

    `output` is where the rule puts what it makes; `check` is called when more than one thing was put there at once.
    """

    __slots__ = ("_check", "_entered", "_former", "_growing", "_made", "_output", "_start")

    def __init__(self, growing: Growing, output: list[Any], former: Made | None, check: Callable[[], None]) -> None:
        self._growing = growing
        self._output = output
        self._former = former
        self._check = check
        self._made = Made()
        self._start = len(output)
        self._entered = growing.mark()

    def __call__(self, items: Items) -> Iterator[tuple[int, Any]]:
        """Positions and items, as `enumerate` gives them, from the first that has to be made."""
        blind = self._growing.mark() == self._entered
        all_items = items()
        mark = self._growing.mark()
        kept = self._reuse(len(all_items))
        ends, output, start = self._made.ends, self._output, self._start
        for position in range(kept, len(all_items)):
            yield position, all_items[position]
            ends.append(len(output) - start)
        self._made.blind = blind and self._growing.mark() == mark

    def _reuse(self, length: int) -> int:
        """Puts out again what was made for the items that stay; how many these are."""
        if self._former is None or not self._former.blind:
            return 0
        ends = self._made.ends = self._former.ends[:length]
        if ends:
            self._output += self._former.output[: ends[-1]]
            self._check()
        return len(ends)

    def finish(self) -> Made:
        """What the rule made, once it has run."""
        self._made.output = self._output[self._start :]
        return self._made
