"""Quantities: what is read, what is written, how they compare and add, against exact fractions as the oracle."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube_objects import quantity
from kube_objects.quantity import QuantityError
from tests.suite.rows import rows

CANONICAL = [
    ("0", "0"),
    ("-0", "0"),
    ("0.000", "0"),
    ("0.0Gi", "0"),
    ("8", "8"),
    (8, "8"),
    (8.0, "8"),
    (0.5, "500m"),
    (1e-5, "10u"),
    (1e21, "1e+21"),
    ("0.5", "500m"),
    ("1000m", "1"),
    ("1500m", "1500m"),
    ("1.5", "1500m"),
    ("1000", "1k"),
    ("1000000", "1M"),
    ("1e1", "10"),
    ("1e2", "100"),
    ("1e3", "1e3"),
    ("1E3", "1E3"),
    ("1e-3", "1e-3"),
    ("10e3", "10e3"),
    ("1000e3", "1e6"),
    ("1.5Gi", "1536Mi"),
    ("1024Mi", "1Gi"),
    ("1025Mi", "1025Mi"),
    ("1Pi", "1Pi"),
    ("100Ti", "100Ti"),
    ("0.5Ki", "512"),
    ("1.1Ki", "1126400m"),
    ("-1.5Gi", "-1536Mi"),
    ("16Ei", "9223372036854775807"),
    ("0.1n", "1n"),
    ("-0.1n", "-1n"),
    ("1.0000000001", "1000000001n"),
    ("12E", "12E"),
    ("1000E", "1000E"),
    ("+5", "+5"),
    ("05", "05"),
    ("5.", "5."),
    (".5", "500m"),
    (" 5 ", "5"),
    ("123456789012345678901", "123456789012345678901"),
]  # texts that apimachinery holds for canonical, such as +5, are kept as they are

WRONG = [
    ("", "does not begin with a number"),
    ("-", "does not begin with a number"),
    (".", "does not begin with a number"),
    ("Gi", "does not begin with a number"),
    ("5gb", '"5gb" has the unknown suffix "gb"; write "5G" or "5Gi"'),
    ("5mb", '"5mb" has the unknown suffix "mb"; write "5M" or "5Mi"'),
    ("5 Gi", '"5 Gi" has the unknown suffix " Gi"; write "5Gi"'),
    ("5mi", '"5mi" has the unknown suffix "mi"; write "5Mi"'),
    ("3K", '"3K" has the unknown suffix "K"; write "3k" or "3Ki"'),
    ("5x", "known are n u m k M G T P E, Ki Mi Gi Ti Pi Ei and e3"),
    ("1e", "unknown suffix"),
    ("1e1.5", "unknown suffix"),
    ("1e2000", "has an exponent beyond 1000"),
    ("1e" + "9" * 190, "has an exponent beyond 1000"),
    ("1,5", "unknown suffix"),
    ("1.2.3", "unknown suffix"),
    ("٣", "does not begin with a number"),
    ("9" * 201, "is longer than 200 characters"),
    (float("nan"), "is not a finite number"),
    (float("inf"), "is not a finite number"),
    (1 << 300, "is an integer of more than 256 bits"),
]

PUBLISHED = r"(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?"
"""The pattern in the CustomResourceDefinitions of everything that embeds a pod."""

SUFFIXES = {
    **{suffix: Fraction(10) ** (3 * power - 9) for power, suffix in enumerate(["n", "u", "m", "", "k", "M", "G", "T", "P", "E"])},
    **{suffix: Fraction(1024) ** power for power, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], 1)},
}

numbers = st.from_regex(r"\A-?([0-9]{1,7}(\.[0-9]{0,5})?|\.[0-9]{1,5})\Z")
quantities = st.tuples(numbers, st.sampled_from([*SUFFIXES, "e3", "E-2", "e0"])).map("".join)


def worth(text: str) -> Fraction:
    """The amount by the book: the oracle, which neither rounds nor caps."""
    number = re.match(r"[+-]?[0-9.]*", text)
    assert number
    digits, suffix = number.group(), text[number.end() :]
    power = suffix[1:].lstrip("+-")
    if power.isdecimal():
        return Fraction(digits) * Fraction(10) ** int(suffix[1:])
    return Fraction(digits) * SUFFIXES[suffix]


def rounded(text: str) -> Fraction:
    """The amount rounded away from zero to nano, and for binary suffixes capped at an int64, as Kubernetes holds it."""
    amount = abs(worth(text)) * 10**9
    up = Fraction(-(-amount.numerator // amount.denominator), 10**9)
    capped = min(up, Fraction(2**63 - 1)) if text.endswith("i") else up
    return -capped if text.startswith("-") else capped


@rows(("value", "canonical"), CANONICAL)
def test_a_quantity_is_written_as_kubernetes_stores_it(value: str | float, canonical: str) -> None:
    assert quantity.canonical(value) == canonical


@rows(("value", "part"), WRONG)
def test_what_is_no_quantity_is_explained(value: str | float, part: str) -> None:
    assert part in quantity.explain(value)


@rows(("value", "_"), WRONG)
def test_reading_what_is_no_quantity_raises_its_explanation(value: str | float, _: str) -> None:
    with pytest.raises(QuantityError) as raised:
        quantity.parse(value)
    assert str(raised.value) == quantity.explain(value)


@rows(
    ("value", "text"),
    [
        (1, "1"),
        (-1.0, "-1"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (-1.5e-5, "-0.000015"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
    ],
)
def test_a_json_number_reads_as_the_api_server_would_write_it(value: float, text: str) -> None:
    assert quantity.json_number(value) == text


@given(quantities)
def test_the_canonical_text_is_worth_the_rounded_amount(text: str) -> None:
    assert worth(quantity.canonical(text)) == rounded(text)


@given(quantities)
def test_the_canonical_text_is_its_own_canonical_text(text: str) -> None:
    once = quantity.canonical(text)
    assert quantity.canonical(once) == once


@given(quantities)
def test_a_quantity_is_nought_exactly_when_its_amount_is(text: str) -> None:
    assert quantity.is_zero(text) == (worth(text) == 0)


@given(quantities, quantities)
def test_quantities_compare_as_their_amounts_do(left: str, right: str) -> None:
    a, b = rounded(left), rounded(right)
    assert quantity.compare(left, right) == (a > b) - (a < b)


@given(quantities, quantities)
def test_a_sum_is_worth_both_amounts(left: str, right: str) -> None:
    assert worth(quantity.add(left, right)) == rounded(left) + rounded(right)


@rows(
    ("left", "right", "total"),
    [
        ("1Gi", "1Gi", "2Gi"),
        ("0", "1Gi", "1Gi"),
        ("1", "1Gi", "1073741825"),
        ("500m", "500m", "1"),
        ("1e3", "500", "1500"),
        ("1Ki", "-1Ki", "0"),
    ],
)
def test_a_sum_takes_the_suffixes_of_the_first_amount_that_is_not_nought(left: str, right: str, total: str) -> None:
    assert quantity.add(left, right) == total


@given(st.text(alphabet="0123456789.+-eEKMGinmu ", max_size=10))
def test_every_text_is_read_that_the_published_pattern_allows(text: str) -> None:
    """Kubernetes' own decoder refuses the fractional exponents that the pattern lets through, and spaces are trimmed first."""
    allowed = re.fullmatch(PUBLISHED, text.strip()) is not None and not re.search(r"[eE][+-]?[0-9]*\.", text)
    small = not re.search(r"[eE][+-]?[0-9]{4,}", text)
    if small:
        assert (quantity.explain(text) == "") == allowed


@given(st.one_of(st.text(), st.integers(), st.floats()))
def test_any_scalar_is_either_read_or_explained(value: str | float) -> None:
    try:
        assert quantity.canonical(value)
    except QuantityError as error:
        assert str(error) == quantity.explain(value) != ""
