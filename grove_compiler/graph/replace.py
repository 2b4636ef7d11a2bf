"""A value that differs from another at one path, and shares everything else with it."""

from __future__ import annotations

from typing import Any, Final

from grove_compiler.graph.field_path import FieldPath

ABSENT: Final[Any] = object()
"""In the place of a value: nothing is there."""


def replace(value: Any, path: FieldPath, new: Any) -> Any:
    """A copy of `value` with `new` at `path`, or without the key there when `new` is `ABSENT`. The path's parents have to be there."""
    if not path:
        return new
    key: Any = path[0]
    copy = value.copy()
    if len(path) == 1 and new is ABSENT:
        del copy[key]
    else:
        copy[key] = new if len(path) == 1 else replace(value[key], path[1:], new)
    return copy
