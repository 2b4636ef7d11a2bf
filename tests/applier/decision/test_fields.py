"""Sets of fields behave as sets of paths do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.decision.fields import (
    Fields,
    add,
    difference,
    intersection,
    members,
    path_of,
    read_step,
    recursive_difference,
    step_of,
    union,
)
from applier.decision.values import item_step, json_of, value_step
from applier.outcome import ItemKey
from tests.suite.rows import rows

_STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
_PATHS = st.frozensets(st.lists(_STEPS, min_size=1, max_size=4).map(tuple), max_size=8)


def _set(paths: frozenset[tuple[str, ...]]) -> Fields:
    fields: Fields = {}
    for path in sorted(paths, key=len):
        add(fields, path)
    return fields


def _paths(fields: Fields) -> frozenset[tuple[str, ...]]:
    return frozenset(members(fields))


@given(_PATHS)
def test_a_set_has_the_paths_that_were_added(paths: frozenset[tuple[str, ...]]) -> None:
    assert _paths(_set(paths)) == paths


@given(_PATHS, st.randoms())
def test_the_order_of_adding_does_not_matter(paths: frozenset[tuple[str, ...]], random: object) -> None:
    fields: Fields = {}
    for path in sorted(paths, key=len, reverse=True):
        add(fields, path)
    assert fields == _set(paths)


@given(_PATHS, _PATHS)
def test_a_union_has_the_paths_of_both(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> None:
    assert union(_set(first), _set(second)) == _set(first | second)


@given(_PATHS, _PATHS)
def test_a_difference_keeps_what_only_the_first_has(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> None:
    assert difference(_set(first), _set(second)) == _set(first - second)


@given(_PATHS, _PATHS)
def test_an_intersection_has_what_both_have(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> None:
    assert intersection(_set(first), _set(second)) == _set(first & second)


@given(_PATHS, _PATHS)
def test_without_also_takes_what_lies_below(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> None:
    left = {path for path in first if not any(path[: len(gone)] == gone for gone in second)}
    assert recursive_difference(_set(first), _set(second)) == _set(frozenset(left))


@given(_PATHS, _PATHS)
def test_sets_are_never_changed_in_place(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> None:
    one, other = _set(first), _set(second)
    before = json.dumps([one, other])
    for operation in (union, difference, intersection, recursive_difference):
        operation(one, other)
    assert json.dumps([one, other]) == before


def test_members_come_as_the_server_reports_them() -> None:
    fields: dict[str, object] = {"f:b": {}, "f:a": {".": {}, "f:x": {}}, 'k:{"n":1}': {"f:z": {}}}
    assert list(members(fields)) == [("f:a",), ("f:b",), ("f:a", "f:x"), ('k:{"n":1}', "f:z")]


@rows(
    ("value", "written"),
    [
        ("plain", '"plain"'),
        ("ü", '"ü"'),
        ('<a> & "b"', '"\\u003ca\\u003e \\u0026 \\"b\\""'),
        ("line\n", '"line\\n"'),
        (80, "80"),
        (80.0, "80"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_values_in_keys_are_written_as_the_server_writes_them(value: object, written: str) -> None:
    assert json_of(value) == written


@pytest.mark.parametrize(
    ("step", "element"),
    [
        ("f:name", "name"),
        ('k:{"port":80,"protocol":"TCP"}', ItemKey((("port", 80), ("protocol", "TCP")))),
        ('v:"x"', ItemKey((("", "x"),))),
        ("i:3", 3),
    ],
)
def test_steps_and_elements_of_paths_stand_for_each_other(step: str, element: object) -> None:
    assert (read_step(step), step_of(element)) == (element, step)


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(ValueError, match="no step of a field path: 'x:y'"):
        read_step("x:y")


def test_paths_are_for_people() -> None:
    assert path_of(("f:ports", item_step([("port", 80)]), value_step("a"))) == ("ports", ItemKey((("port", 80),)), ItemKey((("", "a"),)))
