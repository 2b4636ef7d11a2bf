"""How objects differ: which object, which field, what was expected and what was found."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grove_cli.golden.differences import Mismatch, compare_objects, compare_values, is_same
from tests.suite.rows import rows


def pod(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def told(differences: Any) -> list[tuple[str, str, Any, Any]]:
    return [(one.path, one.change, one.expected, one.found) for one in differences]


FIELDS: dict[str, tuple[Any, Any, list[tuple[str, str, Any, Any]]]] = {
    "a scalar": ({"a": 1}, {"a": 2}, [("a", "changed", 1, 2)]),
    "a text": ({"a": "x"}, {"a": "y"}, [("a", "changed", "x", "y")]),
    "a field that is missing": ({"a": 1, "b": 2}, {"a": 1}, [("b", "missing", 2, None)]),
    "a field that nobody expected": ({"a": 1}, {"a": 1, "b": 2}, [("b", "unexpected", None, 2)]),
    "a null for an absent field": ({"a": None}, {}, [("a", "missing", None, None)]),
    "a deep field": ({"a": {"b": [{"c": 1}]}}, {"a": {"b": [{"c": 2}]}}, [("a.b[0].c", "changed", 1, 2)]),
    "a key with dots": ({"labels": {"a.b/c": 1}}, {"labels": {"a.b/c": 2}}, [("labels[a.b/c]", "changed", 1, 2)]),
    "a map for a scalar": ({"a": 1}, {"a": {"b": 1}}, [("a", "changed", 1, {"b": 1})]),
    "a list for a map": ({"a": {}}, {"a": []}, [("a", "changed", {}, [])]),
    "a longer list": ({"a": [1]}, {"a": [1, 2]}, [("a[1]", "unexpected", None, 2)]),
    "a shorter list": ({"a": [1, 2]}, {"a": [1]}, [("a[1]", "missing", 2, None)]),
    "another item": ({"a": [1, 2]}, {"a": [1, 3]}, [("a[1]", "changed", 2, 3)]),
    "a boolean is no number": ({"a": 1}, {"a": True}, [("a", "changed", 1, True)]),
    "a text is no number": ({"a": 1}, {"a": "1"}, [("a", "changed", 1, "1")]),
    "a named item": (
        {"c": [{"name": "x", "image": "1"}, {"name": "y"}]},
        {"c": [{"name": "x", "image": "2"}, {"name": "y"}]},
        [("c[name=x].image", "changed", "1", "2")],
    ),
    "a named item that is missing": (
        {"c": [{"name": "x"}, {"name": "y"}]},
        {"c": [{"name": "y"}]},
        [("c[name=x]", "missing", {"name": "x"}, None)],
    ),
    "a named item in front": (
        {"c": [{"name": "y"}]},
        {"c": [{"name": "x"}, {"name": "y"}]},
        [("c[name=x]", "unexpected", None, {"name": "x"})],
    ),
    "named items in another order": (
        {"c": [{"name": "x"}, {"name": "y"}]},
        {"c": [{"name": "y"}, {"name": "x"}]},
        [("c", "reordered", ["x", "y"], ["y", "x"])],
    ),
    "items of which two have one name": (
        {"c": [{"name": "x", "port": 1}, {"name": "x", "port": 2}]},
        {"c": [{"name": "x", "port": 1}, {"name": "x", "port": 3}]},
        [("c[1].port", "changed", 2, 3)],
    ),
    "several": ({"a": 1, "b": 1}, {"b": 2, "c": 1}, [("a", "missing", 1, None), ("b", "changed", 1, 2), ("c", "unexpected", None, 1)]),
}


@rows(("expected", "found", "differences"), FIELDS.values(), ids=FIELDS.keys())
def test_a_difference_is_told_by_its_field(expected: Any, found: Any, differences: Any) -> None:
    assert told(compare_values(expected, found)) == differences


@rows("value", [1, 1.5, "x", True, None, [], {}, [{"name": "a"}], {"a": [1, {"b": None}]}])
def test_equal_values_have_no_differences(value: Any) -> None:
    assert told(compare_values(value, copy.deepcopy(value))) == []


def test_a_whole_number_is_the_same_as_its_fraction() -> None:
    assert is_same(1, 1.0)


def test_the_order_of_keys_is_no_difference() -> None:
    assert told(compare_values({"a": 1, "b": 2}, {"b": 2, "a": 1})) == []


def subjects(differences: list[Mismatch]) -> list[tuple[str, str, str]]:
    return [(one.subject, one.path, one.change) for one in differences]


def test_the_order_of_objects_is_no_difference() -> None:
    assert compare_objects([pod("a"), pod("b")], [pod("b"), pod("a")]) == []


def test_a_missing_object_is_told_as_a_whole() -> None:
    assert subjects(compare_objects([pod("a"), pod("b")], [pod("b")])) == [("Pod/default/a", "", "missing")]


def test_an_object_that_nobody_expected_comes_last() -> None:
    found = compare_objects([pod("a", x=1)], [pod("c"), pod("a", x=2)])
    assert subjects(found) == [("Pod/default/a", "spec.x", "changed"), ("Pod/default/c", "", "unexpected")]


def test_objects_of_other_namespaces_kinds_and_groups_are_others() -> None:
    elsewhere = {**pod(), "metadata": {"name": "a", "namespace": "other"}}
    other_kind = {**pod(), "kind": "Service"}
    other_group = {**pod(), "apiVersion": "example.com/v1"}
    for other in (elsewhere, other_kind, other_group):
        assert [one.change for one in compare_objects([pod()], [other])] == ["missing", "unexpected"]


def test_another_version_of_an_api_is_a_difference_of_a_field() -> None:
    expected, found = {**pod(), "apiVersion": "x.io/v1beta1"}, {**pod(), "apiVersion": "x.io/v1"}
    assert told(compare_objects([expected], [found])) == [("apiVersion", "changed", "x.io/v1beta1", "x.io/v1")]


def test_two_objects_of_one_name_are_compared_in_their_order() -> None:
    assert subjects(compare_objects([pod(x=1), pod(x=2)], [pod(x=1), pod(x=3)])) == [("Pod/default/a", "spec.x", "changed")]
    assert subjects(compare_objects([pod(x=1)], [pod(x=1), pod(x=1)])) == [("Pod/default/a", "", "unexpected")]


def test_a_difference_knows_the_document_and_the_place_of_what_was_expected() -> None:
    expected = [pod("z"), pod("a", containers=[{"name": "x"}, {"name": "y", "image": "1"}])]
    found = [pod("z"), pod("a", containers=[{"name": "y", "image": "2"}, {"name": "x"}])]
    first = compare_objects(expected, found)[0]
    assert (first.document, first.at, first.path) == (1, ("spec", "containers", 1, "image"), "spec.containers[name=y].image")


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "name", "x.y/z"]), inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"name": st.sampled_from(["p", "q", "r"])}, optional={"v": inner}), max_size=3)
    ),
    max_leaves=12,
)


def identical(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(identical(*pair) for pair in zip(left, right, strict=True))
    return bool(left == right)


@given(values, values)
def test_there_is_a_difference_exactly_when_the_values_differ(left: Any, right: Any) -> None:
    assert (told(compare_values(left, right)) == []) == identical(left, right)


@given(values, values)
def test_comparing_the_other_way_round_finds_as_many_differences(left: Any, right: Any) -> None:
    assert len(told(compare_values(left, right))) == len(told(compare_values(right, left)))
