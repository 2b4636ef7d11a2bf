"""Which word was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.nearest import edit_distance, nearest

FIELDS = ["replicas", "minAvailable", "podSpec", "podCliqueScalingGroups", "name", "roleName"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("min_available", "minAvailable"),
        ("MINAVAILABLE", "minAvailable"),
        ("minAvailible", "minAvailable"),
        ("podspec", "podSpec"),
        ("pod-clique-scaling-groups", "podCliqueScalingGroups"),
        ("podCliqueScalingGroup", "podCliqueScalingGroups"),
        ("nmae", "name"),
        ("rolename", "roleName"),
        ("zzz", ""),
        ("", ""),
        ("x" * 10_000, ""),
        ("POD_SPEC" + "-" * 10_000, "podSpec"),
    ],
)
def test_the_word_that_was_meant_is_found(word: str, meant: str) -> None:
    assert nearest(word, FIELDS) == meant


def test_among_equally_near_words_the_first_wins() -> None:
    assert nearest("bat", ["cat", "hat"]) == "cat"


def test_no_words_means_none_is_near() -> None:
    assert nearest("name", []) == ""


@pytest.mark.parametrize(("left", "right", "distance"), [("ab", "ba", 1), ("abc", "abc", 0), ("kitten", "sitting", 3), ("", "ab", 2)])
def test_edits_are_counted(left: str, right: str, distance: int) -> None:
    assert edit_distance(left, right, 99) == distance


@given(st.text(max_size=8), st.text(max_size=8), st.integers(1, 9))
def test_the_distance_is_the_same_both_ways_and_never_above_its_limit(left: str, right: str, limit: int) -> None:
    assert edit_distance(left, right, limit) == edit_distance(right, left, limit) <= limit


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_limit_only_cuts_the_distance_off(left: str, right: str) -> None:
    assert edit_distance(left, right, 3) == min(3, edit_distance(left, right, 99))
