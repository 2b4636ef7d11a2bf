"""Prints PodCliqueSets as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from grove_compiler.kube.timestamp import timestamp
from grove_operator.age import age
from grove_operator.cluster.sets_query import SetSummary
from grove_operator.render.as_tree import SHORTEST, shortened
from grove_operator.terminal import Terminal, visible

HEAD = ("NAME", "READY", "PODS", "GATED", "UPDATED", "GANGS", "GPUS", "AGE", "WHY")


def sets_text(sets: Sequence[SetSummary], now: float, terminal: Terminal, *, with_namespaces: bool) -> str:
    """Returns a table with a line for each set. On a terminal the last column, the reason, is truncated to the width."""
    if not sets:
        return "no PodCliqueSets\n"
    rows = [(*(("NAMESPACE",) if with_namespaces else ()), *HEAD)]
    rows += [(*((set.namespace,) if with_namespaces else ()), *_row(set, now)) for set in sets]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = [_line(row, widths, terminal) for row in rows]
    colours = ["1", *(("33" if set.why or set.available < set.replicas else "") for set in sets)]
    return "".join(f"{terminal.paint(line, colour) if colour else line}\n" for line, colour in zip(lines, colours, strict=True))


def sets_value(sets: Sequence[SetSummary]) -> list[dict[str, Any]]:
    """Returns the sets as JSON values, with all fields."""
    return [{field.name: _value(getattr(set, field.name), field.name) for field in fields(SetSummary)} for set in sets]


def _row(summary: SetSummary, now: float) -> tuple[str, ...]:
    counts = (
        f"{summary.available}/{summary.replicas}",
        f"{summary.ready}/{summary.pods}",
        summary.gated,
        f"{summary.updated}/{summary.replicas}",
        summary.gangs,
        summary.gpus,
    )
    return visible(summary.name), *map(str, counts), age(now - summary.created) if summary.created is not None else "", visible(summary.why)


def _line(row: Sequence[str], widths: Sequence[int], terminal: Terminal) -> str:
    *cells, why = row
    left = "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) + "  "
    room = terminal.width - len(left) if terminal.wraps else len(why)
    return (left + (shortened(why, room) if room >= min(SHORTEST, len(why)) else "")).rstrip()


def _value(value: Any, name: str) -> Any:
    return timestamp(value) if name == "created" and value is not None else value
