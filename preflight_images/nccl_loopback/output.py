"""Reads what `all_reduce_perf` prints, of every release of nccl-tests since 1.0. What is not whole is an error, never a pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.IGNORECASE)
FOOTER = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)")
AVERAGE = re.compile(r"#?\s*Avg bus bandwidth\s*:\s*(\S+)\s*(OK|FAILED)?")
RANK = re.compile(r"#\s+(?:Rank|rank)\s+\d+.*?\bdevice\b")
OLD_RANK = re.compile(r"#\s+Rank\s+\d+\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s")
FAILURE = re.compile(r"Test (CUDA failure|NCCL failure|timeout|failure)\b.*")
LEAST_FIELDS = 9


class Unreadable(Exception):
    """Output that is no whole result. The text says in one line what is missing."""


class TestFailed(Exception):
    """A failure that the program itself tells of. The text is its line."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The result at the largest size: bus bandwidth in GB/s (10^9) of the slower of both halves, how many GPUs took part, wrong values."""

    size: int
    bus: float
    gpus: int
    wrong: int


def read_output(text: str) -> Bandwidth:
    """Returns the result. Raises `TestFailed` for a failure that is told, `Unreadable` for anything that is not whole."""
    failed = FAILURE.search(text)
    if failed:
        raise TestFailed(failed.group().strip())
    lines = text.splitlines()
    rows = [row for line in lines if not line.lstrip().startswith("#") and (row := _row(line)) is not None]
    footer, gpus = FOOTER.search(text), sum(bool(RANK.match(line) or OLD_RANK.match(line)) for line in lines)
    if not rows:
        raise Unreadable("it has no row with a result")
    if footer is None or AVERAGE.search(text) is None:
        raise Unreadable("it ends before the program's last lines")
    if gpus == 0:
        raise Unreadable("it names no GPU")
    size, bus, wrong = max(rows)
    return Bandwidth(size, bus, gpus, wrong + (int(footer.group(1)) if footer.group(2) == "FAILED" else 0))


def _row(line: str) -> tuple[int, float, int] | None:
    """Size, bus bandwidth and wrong values of a row; none for a line that is no row. Raises `Unreadable` for a garbled one.

    Columns are size, count, type, operation, (root since 2.0,) then time, algorithm's and bus bandwidth and wrong values, twice.
    """
    fields = line.split()
    if len(fields) < 2 or not fields[0].isdigit() or not fields[1].isdigit():
        return None
    rest = fields[4:]
    if len(rest) >= LEAST_FIELDS and re.fullmatch(r"-?\d+", rest[0]):
        rest = rest[1:]  # the root
    if len(fields) < LEAST_FIELDS or len(rest) < 8:
        raise Unreadable(f"a row is cut off: {line.strip()[:120]}")
    halves = [rest[0:4], rest[4:8]]
    try:
        bus = min(_number(half[2]) for half in halves)
        wrong = sum(_wrong(half[3]) for half in halves)
    except ValueError:
        raise Unreadable(f"a row is garbled: {line.strip()[:120]}") from None
    return int(fields[0]), bus, wrong


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text):  # also `nan` and `inf`, which are no bandwidth
        raise ValueError(text)
    return float(text)


def _wrong(text: str) -> int:
    """How many values are wrong: a count, or an error of floating point in old releases; `N/A` where nobody looked."""
    if text == "N/A":
        return 0
    value = _number(text)
    return int(value) if value == int(value) else 0
