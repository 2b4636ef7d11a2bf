"""Prints events as a table like that of kubectl, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from grove_cli.age import age
from grove_cli.queries.events_query import EventLine
from grove_cli.terminal import Terminal, visible
from grove_compiler.kube.timestamp import timestamp

HEAD = ("LAST SEEN", "TYPE", "REASON", "OBJECT")
MESSAGE = "MESSAGE"
TIMES = ("first", "last")
BLANKS = "   "
COLOURS = {"Warning": "33"}


class EventTable:
    """A table whose column widths are those of the initial events; later ones are printed one by one with --watch."""

    def __init__(self, events: Sequence[EventLine], now: float, *, with_namespaces: bool) -> None:
        self._with_namespaces = with_namespaces
        rows = [self._head(), *(self._row(event, now) for event in events)]
        self._widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def head(self, terminal: Terminal) -> str:
        """Returns the header."""
        return terminal.paint(self._line(self._head(), MESSAGE), "1") + "\n"

    def line(self, event: EventLine, now: float, terminal: Terminal) -> str:
        """Returns the line of an event; control characters of its message are escaped."""
        return terminal.paint(self._line(self._row(event, now), visible(event.message)), COLOURS.get(event.type, "")) + "\n"

    def _head(self) -> tuple[str, ...]:
        return (*(("NAMESPACE",) if self._with_namespaces else ()), *HEAD)

    def _row(self, event: EventLine, now: float) -> tuple[str, ...]:
        where = (visible(event.namespace),) if self._with_namespaces else ()
        return (*where, _seen(event, now), visible(event.type), visible(event.reason), visible(f"{event.kind.lower()}/{event.name}"))

    def _line(self, row: Sequence[str], message: str) -> str:
        cells = [f"{cell:{width}}" for cell, width in zip(row, self._widths, strict=True)]
        return BLANKS.join([*cells, message]).rstrip()


def events_text(events: Sequence[EventLine], now: float, terminal: Terminal, *, with_namespaces: bool) -> str:
    """Returns the table of events."""
    table = EventTable(events, now, with_namespaces=with_namespaces)
    return table.head(terminal) + "".join(table.line(event, now, terminal) for event in events)


def event_value(event: EventLine) -> dict[str, Any]:
    """Returns an event as a JSON value."""
    values = {field.name: getattr(event, field.name) for field in fields(EventLine)}
    return {name: timestamp(value) if name in TIMES and value is not None else value for name, value in values.items()}


def _seen(event: EventLine, now: float) -> str:
    """Returns `5s`, or `5s (x3 over 2m)` for a repeated event, as `kubectl events` does."""
    if event.last is None:
        return "<unknown>"
    since = age(now - event.last)
    return since if event.count < 2 or event.first is None else f"{since} (x{event.count} over {age(now - event.first)})"
