"""Events as kubectl shows them, a line each, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from grove_compiler.kube.timestamp import timestamp
from grove_operator.age import age
from grove_operator.cluster.events_query import EventLine
from grove_operator.terminal import Terminal, visible

HEAD = ("LAST SEEN", "TYPE", "REASON", "OBJECT")
MESSAGE = "MESSAGE"
TIMES = ("first", "last")
BLANKS = "   "
COLOURS = {"Warning": "33"}


class Table:
    """Lines whose columns stand below each other, as far as those fit that were there at the start: later ones come one by one."""

    def __init__(self, told: Sequence[EventLine], now: float, *, with_namespaces: bool) -> None:
        self._with_namespaces = with_namespaces
        rows = [self._head(), *(self._row(one, now) for one in told)]
        self._widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def head(self, terminal: Terminal) -> str:
        """Returns the names of the columns."""
        return terminal.paint(self._line(self._head(), MESSAGE), "1") + "\n"

    def line(self, one: EventLine, now: float, terminal: Terminal) -> str:
        """Returns one line, which a message never ends before its time."""
        return terminal.paint(self._line(self._row(one, now), visible(one.message)), COLOURS.get(one.type, "")) + "\n"

    def _head(self) -> tuple[str, ...]:
        return (*(("NAMESPACE",) if self._with_namespaces else ()), *HEAD)

    def _row(self, one: EventLine, now: float) -> tuple[str, ...]:
        where = (visible(one.namespace),) if self._with_namespaces else ()
        return (*where, _seen(one, now), visible(one.type), visible(one.reason), visible(f"{one.kind.lower()}/{one.name}"))

    def _line(self, row: Sequence[str], message: str) -> str:
        cells = [f"{cell:{width}}" for cell, width in zip(row, self._widths, strict=True)]
        return BLANKS.join([*cells, message]).rstrip()


def events_text(told: Sequence[EventLine], now: float, terminal: Terminal, *, with_namespaces: bool) -> str:
    """Returns the table of all events."""
    table = Table(told, now, with_namespaces=with_namespaces)
    return table.head(terminal) + "".join(table.line(one, now, terminal) for one in told)


def event_value(one: EventLine) -> dict[str, Any]:
    """Returns an event as a JSON value."""
    values = {field.name: getattr(one, field.name) for field in fields(EventLine)}
    return {name: timestamp(value) if name in TIMES and value is not None else value for name, value in values.items()}


def _seen(one: EventLine, now: float) -> str:
    """Returns `5s`, and of what was told more than once `5s (x3 over 2m)`, as `kubectl events` has it."""
    if one.last is None:
        return "<unknown>"
    since = age(now - one.last)
    return since if one.count < 2 or one.first is None else f"{since} (x{one.count} over {age(now - one.first)})"
