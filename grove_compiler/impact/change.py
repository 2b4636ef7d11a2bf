"""The fields in which two values differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grove_compiler.graph.field_path import ABSENT, FieldPath
from grove_compiler.graph.identical import identical


@dataclass(slots=True, eq=False)
class Change:
    """A field and its values; `ABSENT` where there is none."""

    path: FieldPath
    before: Any
    after: Any


def changes(before: Any, after: Any, path: FieldPath = ()) -> Iterator[Change]:
    """Yields the deepest fields that differ, in the order of `before`, then of `after`.

    Items of lists are told by their position. A list of another length is one change, and so is a map whose keys only changed
    their order.
    """
    if identical(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        inner = [change for key in {**before, **after} for change in changes(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))]
        yield from inner or [Change(path, before, after)]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, (*path, index))
    else:
        yield Change(path, before, after)
