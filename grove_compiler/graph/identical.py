"""Whether two values are the same to the letter: what Python counts as equal may still be written differently."""

from __future__ import annotations

from typing import Any


def identical(one: Any, other: Any) -> bool:
    """Tells whether maps, lists and scalars are of the same types, in the same order and of the same values.

    `1` is neither `true` nor `1.0`, and maps with their keys in another order are not the same.
    """
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return len(one) == len(other) and all(
            first == second and type(first) is type(second) and identical(one[first], other[second])
            for first, second in zip(one, other, strict=True)
        )
    if kind is list:
        return len(one) == len(other) and all(map(identical, one, other))
    return repr(one) == repr(other) if kind is float else bool(one == other)
