"""What a plain scalar becomes. The expectations are what sigs.k8s.io/yaml 1.6, which kubectl uses, printed for each of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.scalars import MAX_NUMBER_LENGTH, NOT_FINITE, UnreadableNumber, key_text, resolve, shorten
from tests.suite.rows import rows

NULLS = ["", "~", "null", "Null", "NULL"]
TRUES = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"]
FALSES = ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"]
INTEGERS = {
    "0": 0,
    "-0": 0,
    "+12": 12,
    "-7": -7,
    "0o17": 15,
    "0O17": 15,
    "017": 15,
    "-017": -15,
    "0_7": 7,
    "08": 8,
    "089": 89,
    "0x1F": 31,
    "0X1f": 31,
    "+0x1f": 31,
    "-0x1f": -31,
    "0x_1": 1,
    "0b101": 5,
    "-0b101": -5,
    "0B1": 1,
    "1_000": 1000,
    "1__0": 10,
    "1_": 1,
    "9223372036854775808": 9223372036854775808,
    "18446744073709551615": 18446744073709551615,
}
WHOLE_FLOATS = {"1e3": 1000, "1E3": 1000, "1e+3": 1000, "1.": 1, "1.e3": 1000, ".5e1": 5, "1.0": 1, "0.": 0, "-0.0": 0, "1e6": 1000000}
FLOATS = {".5": 0.5, "+.5": 0.5, "-.5": -0.5, "0.1": 0.1, "1.5_0": 1.5, ".22_9": 0.229, "1e-7": 1e-7, "-.5e-3": -0.0005, "1e21": 1e21}
TEXTS = [
    *("oFF", "nULL", "yEs", "tRUE", "a", "hello world", "=", "<<"),
    *("12:30", "12:30:45", "190:20:30.15", "1,000", "1.2.3", "10.0.0.1", "100m", "2Gi"),
    *("2024-01-01", "2001-1-1", "2024-01-01T00:00:00Z", "2024-01-01 10:00:00"),
    *("+", ".", "-", "0x", "0b", "0o", "0xg", "0b2", "0o8", "0x1p-2", "_1", "._5", ".e3", "1e", "1e+", "--1", "+-1"),
    *("inf", "-inf", "nan", "+.nan", "-.nan", "infinity"),
    *("٣", "1٣", "0x٣", "1٣.5"),
    *("1e400", "-1e400", "4e53730"),
]


@pytest.mark.parametrize("text", NULLS)
def test_kubernetes_words_for_nothing_are_null(text: str) -> None:
    assert resolve(text) is None


@rows("text", TRUES)
def test_words_for_true_are_true(text: str) -> None:
    assert resolve(text) is True


@rows("text", FALSES)
def test_words_for_false_are_false(text: str) -> None:
    assert resolve(text) is False


@rows(("text", "value"), INTEGERS.items())
def test_integers_are_read_in_every_base_that_go_knows(text: str, value: int) -> None:
    assert (resolve(text), type(resolve(text))) == (value, int)


@rows(("text", "value"), WHOLE_FLOATS.items())
def test_a_whole_float_is_an_integer_because_go_sends_it_without_a_point(text: str, value: int) -> None:
    assert (resolve(text), type(resolve(text))) == (value, int)


@rows(("text", "value"), FLOATS.items())
def test_other_floats_stay_floats(text: str, value: float) -> None:
    assert (resolve(text), type(resolve(text))) == (value, float)


@rows("text", TEXTS)
def test_what_only_resembles_another_type_stays_text(text: str) -> None:
    assert resolve(text) == text


@rows("text", sorted(NOT_FINITE))
def test_infinities_and_nan_are_refused(text: str) -> None:
    with pytest.raises(UnreadableNumber, match="not a number that JSON can hold"):
        resolve(text)


@pytest.mark.parametrize("text", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0" * 5000, "1_" * 5000])
def test_an_integer_of_thousands_of_digits_is_refused(text: str) -> None:
    with pytest.raises(UnreadableNumber, match="too many for a number"):
        resolve(text)


def test_an_integer_of_as_many_digits_as_allowed_is_read() -> None:
    assert resolve("9" * MAX_NUMBER_LENGTH) == 10**MAX_NUMBER_LENGTH - 1


@rows(("value", "key"), [("a", "a"), (1, "1"), (-2, "-2"), (True, "true"), (False, "false"), (1.5, "1.5")])
def test_numbers_and_booleans_become_text_as_keys(value: object, key: str) -> None:
    assert key_text(value) == key


@pytest.mark.parametrize("value", [None, [], {}, ["a"]])
def test_null_and_containers_cannot_be_keys(value: object) -> None:
    assert key_text(value) is None


def test_a_message_shows_only_the_beginning_of_a_long_text() -> None:
    assert shorten("a" * 50) == "a" * 40 + "…"


def test_a_message_shows_a_short_text_whole() -> None:
    assert shorten("a" * 40) == "a" * 40


@given(st.text())
def test_any_text_resolves_or_is_an_unreadable_number(text: str) -> None:
    try:
        value = resolve(text)
    except UnreadableNumber:
        return
    assert value is None or isinstance(value, str | int | float)


@given(st.integers(min_value=-(2**63), max_value=2**64 - 1))
def test_any_decimal_integer_of_kubernetes_is_read_back(value: int) -> None:
    assert resolve(str(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_finite_float_is_read_back(value: float) -> None:
    assert resolve(repr(value)) == value
