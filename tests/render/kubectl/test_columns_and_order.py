"""Columns that users choose, and the order of `--sort-by`."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.render.kubectl.columns import Columns, sorted_by
from grove_cli.render.kubectl.jsonpath import relaxed
from grove_cli.render.kubectl.values import InvalidExpression


def object(**fields: Any) -> dict[str, Any]:
    return fields


def test_values_are_printed_as_go_prints_them() -> None:
    one = object(name="a", labels={"y": "2", "x": True}, ports=[80, 443], none=None, ratio=1.5)
    text = Columns("N:.name,L:.labels,P:.ports,EACH:.ports[*],NONE:.none,GONE:.gone,R:ratio").rendered([one], headers=False)
    assert text.split("   ") == ["a", "map[x:true y:2]", "[80 443]", "80,443", "<none>", "<none>", "1.5\n"]


def test_columns_are_as_wide_as_what_is_in_them() -> None:
    assert Columns("A:.a,LONG:.b").rendered([object(a="first", b=1), object(a="2", b=22)]) == "A       LONG\nfirst   1\n2       22\n"


def test_a_cell_cannot_change_the_screen() -> None:
    assert Columns("A:.a").rendered([object(a="x\x1b[2J\ny")]) == "A\nx\\x1b[2J\\x0ay\n"


def test_without_objects_there_are_headers_only() -> None:
    assert Columns("A:.a,B:.b").rendered([]) == "A   B\n"


ORDERS = {
    "numbers by size": ([10, 9, 100], [9, 10, 100]),
    "names letter by letter": (["web-2", "web-10", "web"], ["web", "web-10", "web-2"]),
    "quantities by amount": (["1Gi", "500Mi", "2G"], ["500Mi", "1Gi", "2G"]),
    "times": (["2026-02-01T00:00:00Z", "2026-01-31T00:00:00Z"], ["2026-01-31T00:00:00Z", "2026-02-01T00:00:00Z"]),
    "what is missing first": ([2, None, 1], [None, 1, 2]),
    "booleans": ([True, False], [False, True]),
}


@pytest.mark.parametrize(("values", "expected"), ORDERS.values(), ids=ORDERS)
def test_objects_are_sorted_by_a_value(values: list[Any], expected: list[Any]) -> None:
    objects = [object() if value is None else object(at=value) for value in values]
    assert [each.get("at") for each in sorted_by(relaxed(".at"), objects)] == expected


def test_equal_objects_keep_their_order() -> None:
    objects = [object(at=1, name=name) for name in "bac"]
    assert [each["name"] for each in sorted_by(relaxed("at"), objects)] == ["b", "a", "c"]


@pytest.mark.parametrize(("value", "told"), [({"a": 1}, "unsortable type: map at {.at}"), (None, "couldn't find any field with path")])
def test_what_has_no_order_is_refused(value: Any, told: str) -> None:
    with pytest.raises(InvalidExpression, match=told):
        sorted_by(relaxed("at"), [object(at=value), object(at=value)])
