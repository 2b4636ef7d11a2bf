"""Counts, lists and long texts in messages."""

from __future__ import annotations

import pytest

from kube_objects.words import counted, listed, shortened


@pytest.mark.parametrize(("number", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods")])
def test_a_noun_is_in_the_plural_unless_there_is_one(number: int, text: str) -> None:
    assert counted(number, "pod") == text


@pytest.mark.parametrize(("names", "text"), [("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcde", "a, b, c and 2 more"), ("aa", "a, a")])
def test_the_rest_of_a_long_list_is_counted(names: str, text: str) -> None:
    assert listed(iter(names)) == text


def test_as_many_are_named_as_the_caller_says() -> None:
    assert listed("abc", 1) == "a and 2 more"


@pytest.mark.parametrize(("text", "short"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…")])
def test_a_long_text_is_cut_to_the_length(text: str, short: str) -> None:
    assert shortened(text, 4) == short
