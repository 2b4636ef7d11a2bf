"""Finds the known word that a misspelt one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_WORD = 64
"""Longer words are compared only with case and separators folded: the cost of likeness is the product of both lengths."""
LIKENESS = 0.66
"""The least ratio of common letters, from 0 to 1: about one letter in three may differ. Python's own hints use the same."""


def nearest(word: str, known: Iterable[str], least: float = LIKENESS) -> str:
    """Returns the known word that `word` was probably meant to be, or `""` when none is close.

    Words that differ only in case, `-` or `_` are always close (`pod_spec`, `podspec`, `PodSpec` for `podSpec`); others when
    their likeness, from 0 to 1, is no less than `least`. The first of equally near words wins, so the answer is stable.
    """
    words = {candidate: fold(candidate) for candidate in known if candidate}
    folded = fold(word)
    same = [candidate for candidate, other in words.items() if other == folded]
    if same or len(folded) > LONGEST_WORD:
        return same[0] if same else ""
    from difflib import SequenceMatcher  # only where something is misspelt: no start should pay for it

    matcher = SequenceMatcher(None, b=folded, autojunk=False)  # it keeps what it learns about its second word

    def likeness(candidate: str) -> float:
        matcher.set_seq1(words[candidate])
        return matcher.ratio()

    best = max(words, key=likeness, default="")
    return best if best and likeness(best) >= least else ""


def fold(word: str) -> str:
    """Returns the word without case and separators."""
    return word.lower().replace("_", "").replace("-", "")
