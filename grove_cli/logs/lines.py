"""Reads the lines of a container's log, and prints them, each with its pod in a colour of its own."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from grove_cli import output as outputs
from grove_cli.queries.log_sources import LogSource
from grove_cli.terminal import terminal_of, visible

COLOURS = ("36", "33", "32", "35", "34", "96", "93", "92", "95", "94")

Moment = tuple[datetime, bytes]
"""The time of a line: a datetime has microseconds only, the text has the rest."""
NEVER: Moment = (datetime.fromisoformat("0001-01-02T00:00:00+00:00"), b"")
"""Before all lines."""


class Line(NamedTuple):
    """A line of a log. `stamp` is its time as the kubelet writes it; empty, with the least `moment`, if it wrote none."""

    label: str
    stamp: bytes
    text: bytes
    moment: Moment


def line_of(label: str, given: bytes) -> Line:
    """Parses a line with a timestamp."""
    stamp, blank, text = given.partition(b" ")
    try:
        when = datetime.fromisoformat(stamp.decode())
        if blank and when.tzinfo is not None:
            return Line(label, stamp, text, (when, stamp))
    except ValueError:
        pass
    return Line(label, b"", given, NEVER)


class Printer:
    """Prints lines to standard output, as they are but for the prefix and the time."""

    def __init__(self, *, timestamps: bool, prefix: bool) -> None:
        self._timestamps, self._prefix = timestamps, prefix
        self._terminal = terminal_of(sys.stdout)
        self._prefixes: dict[str, bytes] = {}

    def print(self, lines: Iterable[Line]) -> None:
        """Prints lines in one write."""
        outputs.write(map(self._bytes, lines))

    def _bytes(self, line: Line) -> bytes:
        parts = (self._prefix_of(line.label) if self._prefix else b"", line.stamp if self._timestamps else b"", line.text)
        return b" ".join([*(part for part in parts[:2] if part), parts[2]]) + b"\n"

    def _prefix_of(self, label: str) -> bytes:
        if label not in self._prefixes:
            colour = COLOURS[len(self._prefixes) % len(COLOURS)]
            self._prefixes[label] = outputs.encoded(self._terminal.paint(visible(label), colour))
        return self._prefixes[label]


async def lines_of(
    cluster: Cluster, pods: Resource, namespace: str, source: LogSource, query: Mapping[str, str], silence: float | None = None
) -> AsyncGenerator[Line, None]:
    """Yields the lines of a container's log. Raises `ClusterError`."""
    asked = {"container": source.container, "timestamps": "true", **query}
    async with aclosing(cluster.lines(pods, namespace, source.pod, "log", asked, silence=silence)) as lines:
        async for line in lines:
            yield line_of(source.label, line)
