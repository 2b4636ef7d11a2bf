"""Reads and writes indices of pods as `0-2,5`, the form of `status.completedIndexes` of Kubernetes' Job."""

from __future__ import annotations

from collections.abc import Iterable


def written(indices: Iterable[int]) -> str:
    """Renders indices as ranges, the lowest first; empty for none."""
    ranges: list[list[int]] = []
    for index in sorted(set(indices)):
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def read(text: str, count: int) -> set[int]:
    """Parses the indices below `count` from text. Malformed parts are ignored: anybody may have edited the status."""
    parsed: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        ends = [int(end) for end in (first, last or first) if end.isascii() and end.isdecimal()]
        if len(ends) == 2:
            parsed.update(range(ends[0], min(ends[1] + 1, count)))
    return parsed
