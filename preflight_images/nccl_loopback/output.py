"""Parses the output of `all_reduce_perf` of releases since 1.0. Incomplete output is an error, never a pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from preflight_images.shared.outcome import UnreadableOutput

NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)
"""A finite number that may be a bandwidth."""
COUNT = re.compile(r"[0-9]{1,15}")
FOOTER = re.compile(r"Out of bounds values\s*:\s*([0-9]{1,15})\s+(OK|FAILED)\s")
AVERAGE = re.compile(rf"Avg bus bandwidth\s*:\s*{NUMBER.pattern}[ \t]*(OK|FAILED)?[ \t]*\r?\n", re.IGNORECASE)
STARTED, CONCLUDED = "# Collective test starting", "# Collective test concluded"
MARKS = ("# nThread ", "# nccl-tests version ", "# Using devices", STARTED, CONCLUDED)
"""Lines of which an output has one at most."""
RANK = re.compile(r"#\s+[Rr]ank\s+([0-9]+)\b.*?\b(?:device|[Pp]id\s+[0-9]+\s+on)\b")
FAILURE = re.compile(r"Test (CUDA failure|NCCL failure|timeout|failure)\b.*")
MIN_FIELDS = 9
KIND = ["float", "sum"]
"""The columns of type and operation, which are the program's defaults."""
FLOAT_BYTES = 4
ROUNDED = 0.02
"""GB/s by which columns of a row may differ, as they have two decimals, and also the part of their value, as times are rounded."""
UNITS = {True: (1e-6,), False: (1e-6, 1e-3)}
"""Units of the column of times by whether the header says `(us)`: without it they are milliseconds in releases before 2.0."""


class TestFailed(Exception):
    """A failure that the program reports. The message is its line."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The result of the largest size: the smaller bus bandwidth of both halves in GB/s (10^9), the number of GPUs, and of wrong values."""

    size: int
    bus: float
    gpus: int
    wrong: int


class _Half(NamedTuple):
    """The numbers of one half of a row, out of place or in place: time, and algorithm and bus bandwidth in GB/s."""

    time: float
    algorithm: float
    bus: float


class _Row(NamedTuple):
    """A row, with the number of wrong values."""

    size: int
    halves: tuple[_Half, _Half]
    wrong: int

    @property
    def bus(self) -> float:
        """The smaller bandwidth of both halves."""
        return min(half.bus for half in self.halves)

    def fits(self, gpus: int, unit: float) -> bool:
        """Returns whether the columns are consistent: a bandwidth is bytes by time, and 2(n-1)/n of the data is sent over the bus.

        One GPU sends nothing; its other columns tell nothing of a link.
        """
        if gpus == 1:
            return all(half.bus <= ROUNDED for half in self.halves)
        factor = 2 * (gpus - 1) / gpus
        return all(
            half.time > 0 and _is_near(half.algorithm, self.size / (half.time * unit) / 1e9) and _is_near(half.bus, half.algorithm * factor)
            for half in self.halves
        )


def _is_near(value: float, expected: float) -> bool:
    return abs(value - expected) <= ROUNDED + ROUNDED * min(value, expected)


def read_output(text: str) -> Bandwidth:
    """Returns the result. Raises `TestFailed` for a reported failure, `UnreadableOutput` for incomplete output, and for more than one."""
    failed = FAILURE.search(text)
    if failed:
        raise TestFailed(failed.group().strip())
    end = FOOTER.search(text)
    if end is not None and any(map(_read_line, text[end.end() :].splitlines())):
        raise UnreadableOutput("there is a row after the program's last lines")
    rows = [row for line in text.splitlines() if (row := _read_line(line)) is not None]
    if not rows:
        raise UnreadableOutput("it has no row with a result")
    footer, average = _only(FOOTER, text), _only(AVERAGE, text)
    for mark in MARKS:
        _only(re.compile(mark), text)
    if footer is None or average is None or text.count(STARTED) != text.count(CONCLUDED):
        raise UnreadableOutput("it ends before the program's last lines")
    gpus = _gpus(text)
    if any(one.size >= other.size for one, other in pairwise(rows)):
        raise UnreadableOutput("its sizes do not grow")
    largest = rows[-1]
    if not any(largest.fits(gpus, unit) for unit in UNITS["(us)" in text]):
        raise UnreadableOutput(f"the time and the bandwidths at the size {largest.size} contradict one another for {gpus} GPUs")
    wrong = sum(row.wrong for row in rows) + int(footer[1])
    is_failed = "FAILED" in (footer[2], average[3])
    return Bandwidth(largest.size, largest.bus, gpus, wrong or int(is_failed))


def _only(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Returns the one match of a text; none without one. Raises `UnreadableOutput` for more: there are two outputs, or parts of them."""
    matches = list(pattern.finditer(text))
    if len(matches) > 1:
        raise UnreadableOutput(f"there are two outputs in it, or parts of them: it contains twice {matches[1].group().strip()[:120]!r}")
    return matches[0] if matches else None


def _gpus(text: str) -> int:
    """Returns the number of GPUs, which have ranks from 0 on. Raises `UnreadableOutput`."""
    ranks = [int(match[1]) for line in text.splitlines() if (match := RANK.match(line))]
    if not ranks:
        raise UnreadableOutput("it names no GPU")
    if ranks != list(range(len(ranks))):
        raise UnreadableOutput(f"its ranks are {', '.join(map(str, ranks))}")
    return len(ranks)


def _read_line(line: str) -> _Row | None:
    """Parses a line; returns None if it is not a row. Raises `UnreadableOutput` for a garbled one.

    Columns are size, count, type, operation, (root since 2.0,) then time, algorithm's and bus bandwidth and wrong values, twice.
    """
    fields = line.split()
    if line.lstrip().startswith("#") or len(fields) < 2 or not COUNT.fullmatch(fields[0]) or not COUNT.fullmatch(fields[1]):
        return None
    rest = fields[4:]
    if len(rest) >= MIN_FIELDS and re.fullmatch(r"-?[0-9]+", rest[0]):
        rest = rest[1:]  # the root
    if len(fields) < MIN_FIELDS or len(rest) < 8:
        raise UnreadableOutput(f"a row is cut off: {line.strip()[:120]}")
    first, second = rest[0:4], rest[4:8]
    try:
        if fields[2:4] != KIND or int(fields[0]) != int(fields[1]) * FLOAT_BYTES:
            raise ValueError(fields[0])
        halves = _Half(*map(_number, first[:3])), _Half(*map(_number, second[:3]))
        return _Row(int(fields[0]), halves, _wrong(first[3]) + _wrong(second[3]))
    except ValueError:
        raise UnreadableOutput(f"a row is garbled: {line.strip()[:120]}") from None


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
