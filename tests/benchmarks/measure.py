"""What commands cost: wall time, CPU time and peak memory, in rounds that take turns so that a busy machine is fair to all."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LAUNCHER = str(Path(__file__).with_name("launch.py"))
ROOT = Path(__file__).resolve().parents[2]
GROVE = [sys.executable, "-m", "grove_cli"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""With that variable, as some images set it, Python would compile a checkout's sources again at every start."""


class Cost(NamedTuple):
    """Seconds, seconds, and MB."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], output: str = os.devnull, *, expect: int = 0, more: Mapping[str, str] | None = None) -> Cost:
    """Runs a command once, its standard output to a file, with `more` in its environment.

    Raises `RuntimeError` when it ends with another code than is expected.
    """
    program = shutil.which(command[0])
    if program is None:
        raise RuntimeError(f"there is no {command[0]}")
    with tempfile.NamedTemporaryFile("r") as report:
        launcher = [sys.executable, "-I", "-S", LAUNCHER, report.name, output, program, *command[1:]]
        subprocess.run(launcher, check=True, cwd=ROOT, env={**ENVIRONMENT, **(more or {})})
        cost = json.load(report)
    if cost["code"] != expect:
        raise RuntimeError(f"{' '.join(command)} ended with {cost['code']}")
    return Cost(cost["wall"], cost["cpu"], cost["peak"])


def rounds(commands: Mapping[str, Sequence[str]], times: int) -> dict[str, Cost]:
    """The median cost of each command over so many rounds, after one that only warms caches."""
    samples: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(times + 1):
        for name, command in commands.items():
            cost = run(command)
            if number:
                samples[name].append(cost)
    return {name: Cost(*(statistics.median(column) for column in zip(*costs, strict=True))) for name, costs in samples.items()}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown with aligned columns, the first to the left."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        return f"| {' | '.join(cells)} |"

    rule = f"|{'-' * (widths[0] + 2)}|" + "".join(f"{'-' * (width + 1)}:|" for width in widths[1:])
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def machine() -> str:
    """One line that says where figures come from."""
    import platform

    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def cpu_seconds(pid: int) -> float:
    """CPU time of the threads of a process so far; the clock of its `stat` is too coarse for a change that takes a millisecond."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
