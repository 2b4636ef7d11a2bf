"""Equal parts are kept once, unequal ones never mixed up, and what is hidden stays hidden."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from applier.cache.compact import Compactor
from tests.suite.rows import rows

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.0, -1.0, 2.5]) | st.text("ab", max_size=2)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3))


def exactly(value: Any) -> Any:
    """A value with the types of its numbers, which `==` does not tell apart."""
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    return [exactly(item) for item in value] if isinstance(value, list) else (type(value), value)


@given(st.lists(VALUES, max_size=12), st.sampled_from([2, 5, 1000]))
def test_objects_stay_what_they_are(values: list[Any], generation: int) -> None:
    compactor = Compactor(generation)
    objects = [{"apiVersion": "v1", "kind": "X", "metadata": {}, "spec": {"value": value}} for value in values]
    expected = [exactly(copy.deepcopy(one)) for one in objects]
    assert [exactly(one) for one in [compactor.keep(one, managed=True) for one in objects]] == expected


def pod(name: str, image: str = "x:1") -> dict[str, Any]:
    containers = [{"name": "main", "image": image, "env": [{"name": "A", "value": "b"}]}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "managedFields": [{"manager": "m"}]},
        "spec": {"containers": containers},
    }


def test_equal_parts_are_the_same_part() -> None:
    compactor = Compactor()
    one, other = (compactor.keep(pod(name), managed=False) for name in "ab")
    assert one["spec"]["containers"] is other["spec"]["containers"]


def test_unequal_parts_share_what_is_equal_in_them() -> None:
    compactor = Compactor()
    one, other = (compactor.keep(pod("a", image), managed=False)["spec"]["containers"][0] for image in ("x:1", "x:2"))
    assert one is not other
    assert one["env"] is other["env"]


def test_what_is_not_needed_is_dropped_without_changing_what_was_given() -> None:
    given = pod("a")
    given["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "x": "y"}
    assert Compactor().keep(given, managed=False)["metadata"] == {"name": "a", "annotations": {"x": "y"}}
    assert given["metadata"]["managedFields"]


def test_the_pool_of_parts_is_bounded() -> None:
    compactor = Compactor(generation=100)
    for number in range(1000):
        compactor.keep(pod(f"pod-{number}", f"x:{number}"), managed=True)
    assert len(compactor._young) + len(compactor._old) <= 200


@rows("value", [{}, [], {"a": []}, [[]], [{}], {"a": {}}])
def test_empty_maps_and_lists_are_told_apart(value: Any) -> None:
    compactor = Compactor()
    others: list[Any] = [{}, [], {"a": {}}, {"a": []}]
    for other in others:
        compactor.keep({"kind": "X", "metadata": {}, "spec": {"v": copy.deepcopy(other)}}, managed=True)
    kept = compactor.keep({"kind": "X", "metadata": {}, "spec": {"v": copy.deepcopy(value)}}, managed=True)
    assert kept["spec"]["v"] == value
