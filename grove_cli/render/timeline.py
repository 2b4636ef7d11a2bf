"""Describes rows of bars over time, such as the pods of a set, which are drawn as SVG and with characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grove_compiler.record import record


class Phase(NamedTuple):
    """A part of a bar: its name in pictures, and what it means in legends."""

    name: str
    meaning: str


GATED = Phase("gated", "gated, until its gang is complete")
WAITING = Phase("waiting", "waits for nodes and images")
RUNNING = Phase("running", "runs; each successor has another shade")
PHASES = (GATED, WAITING, RUNNING)
ENDS = {"Failed": "has failed", "Succeeded": "has succeeded"}
"""The states that mark the end of a bar, and what they mean."""


@record
class Bar:
    """A bar from `begin` to `end`, in seconds since the epoch.

    It is gated until `opened`, waits until `started`, and then has the colour of `number`. `title` is its tooltip, and `state` marks its
    end.
    """

    begin: float
    opened: float
    started: float
    end: float
    number: int
    title: str
    state: str = ""

    def parts(self) -> Iterator[tuple[Phase, float, float]]:
        """Yields its phases with their begin and end, without those that have no length; one that has just begun is there all the same."""
        opened = min(max(self.opened, self.begin), self.end)
        started = min(max(self.started, opened), self.end)
        if self.end <= self.begin:
            yield GATED if self.opened > self.begin else WAITING if self.started > self.begin else RUNNING, self.begin, self.end
        for phase, begin, end in ((GATED, self.begin, opened), (WAITING, opened, started), (RUNNING, started, self.end)):
            if end > begin:
                yield phase, begin, end


@record
class TimelineRow:
    """A row: its label and its bars."""

    name: str
    bars: Sequence[Bar]


@record
class Mark:
    """A vertical line with a label at a time."""

    at: float
    label: str


@record
class Chart:
    """A chart. Bars are clipped to the time from `begin` to `end`. `left_out` says what it does not show."""

    title: str
    begin: float
    end: float
    rows: Sequence[TimelineRow]
    marks: Sequence[Mark]
    left_out: str = ""

    def phases(self) -> list[Phase]:
        """Returns the phases that any bar has, for a legend."""
        found = {phase for row in self.rows for bar in row.bars for phase, _, _ in bar.parts()}
        return [phase for phase in PHASES if phase in found]

    def ends(self) -> list[str]:
        """Returns the states that mark the end of any bar."""
        found = {bar.state for row in self.rows for bar in row.bars}
        return [state for state in ENDS if state in found]
