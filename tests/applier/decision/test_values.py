"""When two values are one."""

from __future__ import annotations

from applier.decision.values import equal, equal_in_form, equal_when_rounded, is_empty
from tests.suite.rows import rows


@rows(
    ("first", "second"),
    [(1, 1.0), ("a", "a"), ([1, {"a": 2}], [1.0, {"a": 2}]), (None, None), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (True, True)],
)
def test_equal_values(first: object, second: object) -> None:
    assert equal(first, second)


@rows(
    ("first", "second"),
    [(1, True), (0, False), ("1", 1), ([1, 2], [2, 1]), ([True], [1]), ({"a": None}, {}), (None, ""), ({"a": 0}, {"a": False})],
)
def test_unequal_values(first: object, second: object) -> None:
    assert not equal(first, second)


@rows(
    ("form", "first", "second"),
    [
        ("quantity", "1000m", "1"),
        ("quantity", 1, "1"),
        ("quantity", "0.5", "500m"),
        ("quantity", "1024Mi", "1Gi"),
        ("quantity", "1e3", "1E3"),
        ("quantity", "1.0", "1"),
        ("quantity", "0.1n", "1n"),
        ("time", "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"),
        ("time", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
        ("micro-time", "2026-01-01T01:00:00.000000+01:00", "2026-01-01T00:00:00.000000Z"),
        ("bytes", "YWJj\n", "YWJj"),
    ],
)
def test_values_that_the_server_writes_alike(form: str, first: object, second: object) -> None:
    assert equal_in_form(form, first, second)


@rows(
    ("form", "first", "second"),
    [
        ("quantity", "1", "2"),
        ("quantity", "1024Mi", "1024M"),
        ("quantity", "x", "1"),
        ("quantity", "1Gi", "1073741824"),
        ("time", "2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z"),
        ("time", "yesterday", "2026-01-01T00:00:00Z"),
        ("micro-time", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z"),
        ("micro-time", "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000000Z"),
        ("bytes", "YWJj", "YWJk"),
        ("bytes", "no base64!", "YWJk"),
        ("", "1000m", "1"),
    ],
)
def test_values_that_it_does_not(form: str, first: object, second: object) -> None:
    assert not equal_in_form(form, first, second)


@rows(("value", "empty"), [(0, True), (False, True), ("", True), ([], True), ({}, True), (None, True), (1, False), ("0", False)])
def test_what_go_leaves_out(value: object, empty: bool) -> None:
    assert is_empty(value) is empty


@rows("text", ["1 Gi", "1_0", "Infinity", "NaN", "1e", "", "."])
def test_what_decimal_reads_and_a_server_does_not_is_no_quantity(text: str) -> None:
    assert not equal_in_form("quantity", text, "1Gi") and not equal_in_form("quantity", "10", text)


def test_a_server_may_round_up_to_thousandths() -> None:
    assert equal_when_rounded("100u", "1m") and not equal_when_rounded("100u", "2m") and not equal_when_rounded("1 m", "1m")
