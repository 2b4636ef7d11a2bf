"""Parses the output of `all_reduce_perf` of releases since 1.0. Incomplete output is an error, never a pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)
"""A finite number that may be a bandwidth."""
COUNT = re.compile(r"[0-9]{1,15}")
FOOTER = re.compile(r"Out of bounds values\s*:\s*([0-9]{1,15})\s+(OK|FAILED)\s")
AVERAGE = re.compile(rf"Avg bus bandwidth\s*:\s*{NUMBER.pattern}[ \t]*(OK|FAILED)?[ \t]*\r?\n", re.IGNORECASE)
RANK = re.compile(r"#\s+(?:Rank|rank)\s+\d+.*?\bdevice\b")
OLD_RANK = re.compile(r"#\s+Rank\s+\d+\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s")
FAILURE = re.compile(r"Test (CUDA failure|NCCL failure|timeout|failure)\b.*")
LEAST_FIELDS = 9
ROUNDED = 0.02
"""GB/s by which the columns of a row may differ, as each has two decimals."""


class Unreadable(Exception):
    """Incomplete output. The message is one line."""


class TestFailed(Exception):
    """A failure that the program reports. The message is its line."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The result of the largest size: the smaller bus bandwidth of both halves in GB/s (10^9), the number of GPUs, and of wrong values."""

    size: int
    bus: float
    gpus: int
    wrong: int


class _Row(NamedTuple):
    """A row: algorithm and bus bandwidth in GB/s, out of place and in place, and the number of wrong values."""

    size: int
    halves: tuple[tuple[float, float], tuple[float, float]]
    wrong: int

    @property
    def bus(self) -> float:
        """The smaller bandwidth of both halves."""
        return min(bus for _, bus in self.halves)

    def fits(self, gpus: int) -> bool:
        """Returns whether the columns are consistent: 2(n-1)/n of the data is sent over the bus."""
        factor = 2 * (gpus - 1) / gpus
        return all(abs(bus - algorithm * factor) <= ROUNDED + bus / 100 for algorithm, bus in self.halves)


def read_output(text: str) -> Bandwidth:
    """Returns the result. Raises `TestFailed` for a reported failure, `Unreadable` for incomplete output."""
    failed = FAILURE.search(text)
    if failed:
        raise TestFailed(failed.group().strip())
    lines = text.splitlines()
    rows = [row for line in lines if not line.lstrip().startswith("#") and (row := _row(line)) is not None]
    footer, average = FOOTER.search(text), AVERAGE.search(text)
    gpus = sum(bool(RANK.match(line) or OLD_RANK.match(line)) for line in lines)
    if not rows:
        raise Unreadable("it has no row with a result")
    if footer is None or average is None:
        raise Unreadable("it ends before the program's last lines")
    if gpus == 0:
        raise Unreadable("it names no GPU")
    size = max(row.size for row in rows)
    largest = [row for row in rows if row.size == size]
    if not all(row.fits(gpus) for row in largest):
        raise Unreadable(f"the bandwidths at the size {size} contradict one another for {gpus} GPUs")
    wrong = sum(row.wrong for row in rows) + int(footer[1])
    is_failed = "FAILED" in (footer[2], average[3])
    return Bandwidth(size, min(row.bus for row in largest), gpus, wrong or int(is_failed))


def _row(line: str) -> _Row | None:
    """Parses a line; returns None if it is not a row. Raises `Unreadable` for a garbled one.

    Columns are size, count, type, operation, (root since 2.0,) then time, algorithm's and bus bandwidth and wrong values, twice.
    """
    fields = line.split()
    if len(fields) < 2 or not COUNT.fullmatch(fields[0]) or not COUNT.fullmatch(fields[1]):
        return None
    rest = fields[4:]
    if len(rest) >= LEAST_FIELDS and re.fullmatch(r"-?[0-9]+", rest[0]):
        rest = rest[1:]  # the root
    if len(fields) < LEAST_FIELDS or len(rest) < 8:
        raise Unreadable(f"a row is cut off: {line.strip()[:120]}")
    first, second = rest[0:4], rest[4:8]
    try:
        for time in (first[0], second[0]):
            _number(time)
        halves = (_number(first[1]), _number(first[2])), (_number(second[1]), _number(second[2]))
        return _Row(int(fields[0]), halves, _wrong(first[3]) + _wrong(second[3]))
    except ValueError:
        raise Unreadable(f"a row is garbled: {line.strip()[:120]}") from None


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def _wrong(text: str) -> int:
    """Returns the number of wrong values: a count, or a floating point error in old releases; `N/A` if it was not checked."""
    if text == "N/A":
        return 0
    value = _number(text)
    return int(value) if value == int(value) else 0
