"""The same to the letter, not just what Python calls equal."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.identical import identical

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, -0.0, 1.0, 1.5]) | st.text("01", max_size=2),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text("ab", max_size=2), part, max_size=3),
)

DIFFERENT = {
    "true and one": (True, 1),
    "one and one point zero": (1, 1.0),
    "the two zeros": (0.0, -0.0),
    "nothing and an empty map": (None, {}),
    "keys in another order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "a key more": ({"a": 1}, {"a": 1, "b": None}),
    "deep inside": ({"a": [{"b": 1}]}, {"a": [{"b": True}]}),
    "a list and a longer one": ([1], [1, 1]),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_is_written_differently_is_not_identical(one: Any, other: Any) -> None:
    assert not identical(one, other)
    assert not identical(other, one)


@given(JSON)
def test_a_copy_is_identical(value: Any) -> None:
    assert identical(copy.deepcopy(value), value)


@given(JSON, JSON)
def test_identical_values_are_those_that_are_written_alike(one: Any, other: Any) -> None:
    assert identical(one, other) is (json.dumps(one) == json.dumps(other))
