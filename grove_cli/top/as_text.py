"""Formats what the pods of a set ask for and use, as tables and as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from grove_cli.queries.usage import UNKNOWN, DomainUsage, SetUsage, Usage
from grove_cli.render.as_table import HEADER, table
from grove_cli.terminal import Terminal, visible

COLUMNS = ("PODS", "READY", "NODES", "GPUS", "CPU", "MEMORY")
USED = ("CPU USED", "MEMORY USED")
NOWHERE = "<none>"
MI, GI = 2**20, 2**30
LARGE = 10 * GI
"""Bytes from which on memory is in Gi."""


def usage_text(usage: SetUsage, terminal: Terminal) -> str:
    """Returns the table of gangs with their total, and that of domains where there are any."""
    measured = usage.total.cpu_used is not None
    gangs = [["GANG", *_columns(measured)], *([name, *_cells(each, measured)] for name, each in usage.gangs.items())]
    gangs.append(["TOTAL", *_cells(usage.total, measured)])
    parts = [_table(gangs, terminal)]
    if usage.domains:
        rows = [[_place(each), each.scope, *_cells(each.usage, measured)] for each in usage.domains]
        parts.append(_table([["DOMAIN", "OF", *_columns(measured)], *rows], terminal))
    return "\n".join(parts)


def usage_value(usage: SetUsage) -> dict[str, Any]:
    """Returns the numbers as JSON, without unknown ones."""
    domains = [{"type": each.type, "name": each.name, "of": each.scope, **_value(each.usage)} for each in usage.domains]
    return {
        "total": _value(usage.total),
        "gangs": [{"name": name, **_value(each)} for name, each in usage.gangs.items()],
        "domains": [{key: part for key, part in each.items() if part != ""} for each in domains],
    }


def cores(thousandths: int) -> str:
    """Returns `2`, `1.5` or `250m`."""
    return f"{thousandths}m" if 0 < thousandths < 1000 else f"{thousandths / 1000:g}" if thousandths < 10**6 else str(thousandths // 1000)


def memory(size: int) -> str:
    """Returns `512Mi`, `96Gi` or `1.5Ti`."""
    if not size:
        return "0"
    if size < LARGE and size % GI:
        return f"{-(-size // MI)}Mi"
    if size < 1024 * GI:
        return f"{size / GI:.4g}Gi"
    return f"{size / (1024 * GI):.4g}Ti"


def _columns(measured: bool) -> tuple[str, ...]:
    return (*COLUMNS, *USED) if measured else COLUMNS


def _cells(usage: Usage, measured: bool) -> list[str]:
    counts = [usage.pods, usage.ready, usage.nodes, usage.gpus]
    cells = [*map(str, counts), cores(usage.cpu), memory(usage.memory)]
    if not measured:
        return cells
    cpu, used = usage.cpu_used, usage.memory_used
    return [*cells, UNKNOWN if cpu is None else cores(cpu), UNKNOWN if used is None else memory(used)]


def _place(domain: DomainUsage) -> str:
    return f"ComputeDomain {domain.name}" if domain.type == "ComputeDomain" else f"{domain.type}={domain.name or NOWHERE}"


def _table(rows: list[list[str]], terminal: Terminal) -> str:
    uncut = terminal._replace(wraps=False)  # part of a number is none
    return table([[visible(cell) for cell in row] for row in rows], uncut, [HEADER, *[""] * (len(rows) - 1)])


def _value(usage: Usage) -> dict[str, Any]:
    values = {field.name: getattr(usage, field.name) for field in fields(Usage)}
    names = {"cpu_used": "cpuUsed", "memory_used": "memoryUsed"}
    return {names.get(name, name): value for name, value in values.items() if value is not None}
