"""The word that was probably meant: for unknown fields and values outside a list."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_WORD = 64
"""Longer words are only compared with their case and separators folded: a distance would cost their lengths' product."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns the known word that `word` was probably meant to be, or `""` when none is close.

    Words that differ only in case, `-` or `_` are always close (`pod_spec`, `podspec`, `PodSpec` for `podSpec`); others when
    about one letter in three has to change. The first of equally near words wins, so the answer is stable.
    """
    words = [candidate for candidate in known if candidate]
    folded = fold(word)
    for candidate in words:
        if fold(candidate) == folded:
            return candidate
    if len(folded) > LONGEST_WORD:
        return ""
    best, best_distance = "", max(1, len(folded) // 3) + 1
    for candidate in words:
        distance = edit_distance(folded, fold(candidate), best_distance)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def fold(word: str) -> str:
    """Returns the word without case and separators."""
    return word.lower().replace("_", "").replace("-", "")


def edit_distance(left: str, right: str, limit: int) -> int:
    """Returns how many insertions, deletions, replacements and swaps of neighbours turn `left` into `right`; never more than `limit`."""
    if abs(len(left) - len(right)) >= limit:
        return limit
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        line = [row]
        for column, other in enumerate(right, 1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) >= limit:
            return limit
        before, above = above, line
    return min(above[-1], limit)
