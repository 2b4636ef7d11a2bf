"""Go durations: what is read, and what is said about the rest."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube import duration
from grove_compiler.kube.duration import MAX_NANOSECONDS, SECOND, DurationError
from tests.suite.rows import rows

CANONICAL = [
    ("4h", "4h0m0s"),
    ("90s", "1m30s"),
    ("1h30m", "1h30m0s"),
    ("1.5h", "1h30m0s"),
    ("-1.5h", "-1h30m0s"),
    ("+5s", "5s"),
    ("300ms", "300ms"),
    ("1500ms", "1.5s"),
    ("1us", "1µs"),
    ("1µs", "1µs"),
    ("1μs", "1µs"),
    ("1.5us", "1.5µs"),
    ("7ns", "7ns"),
    ("0", "0s"),
    ("-0", "0s"),
    ("0h", "0s"),
    (".5s", "500ms"),
    ("5.s", "5s"),
    ("1s1h", "1h0m1s"),
    ("2562047h47m16.854775807s", "2562047h47m16.854775807s"),
    ("-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
]

WRONG = [
    ("", '"" is not a duration'),
    ("-", '"-" is not a duration'),
    ("h", '"h" is not a duration'),
    (".h", '".h" is not a duration'),
    ("4", '"4" lacks a unit after 4'),
    ("4.5", '"4.5" lacks a unit after 4.5'),
    ("4d", '"4d" has the unknown unit "d"; known are h, m, s, ms, us and ns; 4 days are 96h'),
    ("4 h", '"4 h" has the unknown unit " h"'),
    ("1H", '"1H" has the unknown unit "H"'),
    ("1h-5m", '"1h-5m" has the unknown unit "h-"'),
    ("2562048h", '"2562048h" is longer than a duration can be'),
    ("1" * 101, "is longer than 100 characters"),
]


@rows(("text", "canonical"), CANONICAL)
def test_a_duration_is_as_long_as_what_kubernetes_stores_of_it(text: str, canonical: str) -> None:
    assert duration.parse(text) == duration.parse(canonical)


@rows(("text", "beginning"), WRONG)
def test_what_is_no_duration_is_explained(text: str, beginning: str) -> None:
    assert beginning in duration.explain(text)


@rows(("text", "_"), WRONG)
def test_reading_what_is_no_duration_raises_its_explanation(text: str, _: str) -> None:
    with pytest.raises(DurationError) as raised:
        duration.parse(text)
    assert str(raised.value) == duration.explain(text)


def test_a_right_duration_has_no_explanation() -> None:
    assert duration.explain("1h30m") == ""


LONGEST = [("2562047h47m16.854775807s", MAX_NANOSECONDS), ("-2562047h47m16.854775808s", -MAX_NANOSECONDS - 1)]


@rows(("text", "nanoseconds"), [*LONGEST, ("-1h30m", -5400 * SECOND), ("1h0m1.5s", 3601 * SECOND + SECOND // 2), ("7ns", 7)])
def test_a_duration_is_counted_in_nanoseconds(text: str, nanoseconds: int) -> None:
    assert duration.parse(text) == nanoseconds


@given(st.integers(0, 10**6), st.text("0123456789", max_size=12), st.sampled_from(["ns", "us", "ms", "s", "m", "h"]))
def test_a_fraction_is_worth_its_part_of_the_unit_cut_off_at_nanoseconds(whole: int, fraction: str, unit: str) -> None:
    in_nanoseconds = {"ns": 1, "us": 10**3, "ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}[unit]
    exact = (whole + Fraction(int(fraction or 0), 10 ** len(fraction))) * in_nanoseconds
    assert duration.parse(f"{whole}.{fraction}{unit}") == int(exact)


@given(st.text(alphabet="0123456789.hmsun-+ µ", max_size=12))
def test_any_text_is_either_read_or_explained(text: str) -> None:
    try:
        assert abs(duration.parse(text)) <= MAX_NANOSECONDS + 1
    except DurationError as error:
        assert str(error) == duration.explain(text) != ""
