"""Which word was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.nearest import nearest
from tests.suite.rows import rows

FIELDS = ["replicas", "minAvailable", "podSpec", "podCliqueScalingGroups", "name", "roleName"]


@rows(
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
        ("replcias", "replicas"),
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


@pytest.mark.parametrize(("least", "meant"), [(0.7, "podSpec"), (0.9, "")])
def test_a_caller_says_how_much_alike_words_must_be(least: float, meant: str) -> None:
    assert nearest("podSpek", FIELDS, least) == meant


@given(st.text(max_size=8), st.lists(st.text(max_size=8)))
def test_what_is_found_is_one_of_the_known_words(word: str, known: list[str]) -> None:
    assert nearest(word, known) in {*known, ""}
