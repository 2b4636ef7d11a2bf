"""Times: what Kubernetes writes, as seconds and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube.duration import DurationError, seconds
from grove_compiler.kube.timestamp import time, timestamp
from tests.suite.rows import rows

TIMES = {
    "1970-01-01T00:00:00Z": 0.0,
    "2026-01-01T00:00:00Z": 1767225600.0,
    "2026-01-01T01:00:00+01:00": 1767225600.0,
    "2026-01-01T00:00:00.250000Z": 1767225600.25,
}


@pytest.mark.parametrize(("text", "expected"), TIMES.items())
def test_a_time_is_read_as_seconds_since_the_epoch(text: str, expected: float) -> None:
    assert time(text) == expected


def test_no_time_is_none() -> None:
    assert time(None) is None


@rows("text", ["", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "٢026-01-01T00:00:00Z", 5])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        time(text)


@given(st.integers(0, 253402300799))
def test_a_time_that_was_written_is_read_as_the_same(moment: int) -> None:
    assert time(timestamp(moment)) == moment


def test_a_fraction_of_a_second_is_not_written() -> None:
    assert timestamp(1767225600.9) == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize("moment", [-1, 253402300800, float("inf"), float("nan")])
def test_a_moment_that_cannot_be_written_is_refused(moment: float) -> None:
    with pytest.raises(ValueError, match="are not between the years 1970 and 9999"):
        timestamp(moment)


@pytest.mark.parametrize(("text", "expected"), [("4h0m0s", 14400.0), ("300ms", 0.3), ("0s", 0.0), ("-1.5h", -5400.0)])
def test_a_duration_is_read_as_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


def test_what_is_no_duration_is_refused() -> None:
    with pytest.raises(DurationError):
        seconds("4 hours")
