"""Finds the known word that a misspelt one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MAX_WORD_LENGTH = 64
"""Longer words are compared only with case and separators folded: the cost of likeness is the product of both lengths."""
MAX_WORDS = 1_000
"""Words to compare with: who has more of them has made them by a program."""
LIKENESS = 0.66
"""The least ratio of common letters, from 0 to 1: about one letter in three may differ. Python's own hints use the same."""


def nearest(word: str, known: Iterable[str], least: float = LIKENESS) -> str:
    """Returns the known word that `word` was probably meant to be, or `""` when none is close.

    Words that differ only in case, `-` or `_` are always close (`pod_spec`, `podspec`, `PodSpec` for `podSpec`); others when
    their likeness, from 0 to 1, is no less than `least`. The first of equally near words wins, so the answer is stable.
    """
    words = {candidate: fold(candidate) for candidate in islice(known, MAX_WORDS) if candidate}
    folded = fold(word)
    same = [candidate for candidate, other in words.items() if other == folded]
    if same or len(folded) > MAX_WORD_LENGTH:
        return same[0] if same else ""
    from difflib import SequenceMatcher  # only where something is misspelt: no start should pay for it

    matcher = SequenceMatcher(None, b=folded, autojunk=False)  # it keeps what it learns about its second word

    best, likeness = "", least
    for candidate, other in words.items():
        matcher.set_seq1(other)
        # The first two are upper bounds of the third, which costs many times as much.
        if matcher.real_quick_ratio() < likeness or matcher.quick_ratio() < likeness:
            continue
        ratio = matcher.ratio()
        if ratio > likeness or (ratio == likeness and not best):
            best, likeness = candidate, ratio
    return best


def fold(word: str) -> str:
    """Returns the word without case and separators."""
    return word.lower().replace("_", "").replace("-", "")
