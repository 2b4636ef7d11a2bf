"""Indices of pods as a status has them: `0-2,5`, as `status.completedIndexes` of Kubernetes' Job."""

from __future__ import annotations

from collections.abc import Iterable


def written(indices: Iterable[int]) -> str:
    """Returns indices as text: ranges, the lowest first; empty for none."""
    ranges: list[list[int]] = []
    for index in sorted(set(indices)):
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def read(text: str, count: int) -> set[int]:
    """Returns the indices below `count` that a text names. What it cannot mean is left out: a status may have been edited by anybody."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        ends = [int(end) for end in (first, last or first) if end.isascii() and end.isdecimal()]
        if len(ends) == 2:
            found.update(range(ends[0], min(ends[1] + 1, count)))
    return found
