"""Reads indices of pods in the form of `status.completedIndexes` of Kubernetes' Job: `0-2,5`."""

from __future__ import annotations


def read_indices(text: str, count: int) -> set[int]:
    """Parses the indices below `count` from `0-2,5`. Malformed parts are ignored: anybody may have edited the status."""
    parsed: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        ends = [int(end) for end in (first, last or first) if end.isascii() and end.isdecimal()]
        if len(ends) == 2:
            parsed.update(range(ends[0], min(ends[1] + 1, count)))
    return parsed
