"""Lays out the lines of trees of objects: branches, kind and name, then a column with the state and details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from grove_cli.terminal import MIN_NAME_WIDTH, Terminal, fitted

STATE_WIDTH = 13
T = TypeVar("T")


class TreeRow(NamedTuple):
    """A line: its branches, kind and name, and what stands in the column. `state` has the width of `STATE_WIDTH`, if there is one."""

    branches: str
    kind: str
    name: str
    detail: str
    state: str = ""
    state_colour: str = "0"

    @property
    def width(self) -> int:
        """The columns of branches, kind and name."""
        return len(self.branches) + len(self.kind) + 1 + len(self.name)


def branched(children: Sequence[T], lead: str) -> Iterator[tuple[T, str, str]]:
    """Yields the children of what stands behind `lead`, each with what is drawn before its line and before the lines below it."""
    for position, child in enumerate(children):
        is_last = position == len(children) - 1
        yield child, lead + ("└─ " if is_last else "├─ "), lead + ("   " if is_last else "│  ")


def tree_lines(rows: Iterable[TreeRow], terminal: Terminal, widest: int) -> list[str]:
    """Returns the lines of a tree. On a terminal the column begins at `widest` at the latest, and names are shortened for it."""
    rows = list(rows)
    column = max((row.width for row in rows if row.detail or row.state), default=0)
    column = min(column, widest) if terminal.wraps else column
    return [_line(row, column, terminal) for row in rows]


def _line(row: TreeRow, column: int, terminal: Terminal) -> str:
    has_column = bool(row.detail or row.state)
    room = (column if has_column else terminal.width) if terminal.wraps else row.width
    name = fitted(row.name, max(MIN_NAME_WIDTH, room - row.width + len(row.name)))
    left = row.branches + terminal.paint(row.kind, "2" if row.name else "2;3") + (f" {name}" if name else "")
    if not has_column:
        return left
    used = row.width - len(row.name) + len(name)
    state = terminal.paint(row.state, row.state_colour) + " " * (STATE_WIDTH - len(row.state)) if row.state else ""
    rest = terminal.width - max(column, used) - 2 - (STATE_WIDTH if state else 0) if terminal.wraps else len(row.detail)
    detail = fitted(row.detail, rest) if rest >= min(MIN_NAME_WIDTH, len(row.detail)) else ""
    return (left + " " * (max(column - used, 0) + 2) + state + terminal.paint(detail, "2")).rstrip()
