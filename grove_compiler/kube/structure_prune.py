"""Leaves out what has errors, so that rules about meaning can still run on the rest of a faulty document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath

_Tree = dict[str | int, Any]


def prune(value: Any, findings: Sequence[tuple[FieldPath, Diagnostic]], path: FieldPath = ()) -> Any:
    """Returns a copy of `value` (which stands at `path`) without every value that has an error; shares all parts that have none.

    Fields are dropped from their object and items from their list, which moves later items: `original_path` says from where.
    Warnings drop nothing; a required field that is missing stays missing. None when the value itself is at fault.
    """
    tree = _faults(findings, len(path))
    if tree is None:
        return None
    return _without(value, tree) if tree else value


def original_path(path: FieldPath, findings: Sequence[tuple[FieldPath, Diagnostic]]) -> FieldPath:
    """Returns where a value of the pruned copy stood before items were dropped from the lists above it."""
    tree: _Tree | None = _faults(findings, 0)
    steps: list[str | int] = []
    for step in path:
        if isinstance(step, int) and tree:
            for index in sorted(key for key, below in tree.items() if isinstance(key, int) and below is None):
                step += index <= step
        steps.append(step)
        tree = tree.get(step) if tree else None
    return tuple(steps)


def _faults(findings: Sequence[tuple[FieldPath, Diagnostic]], start: int) -> _Tree | None:
    """Returns the paths of errors as a tree whose leaves are None; None when the root itself is at fault."""
    tree: _Tree = {}
    for path, diagnostic in findings:
        if diagnostic.severity != "error":
            continue
        steps = path[start:]
        if not steps:
            return None
        level = tree
        for step in steps[:-1]:
            below = level.setdefault(step, {})
            if below is None:
                break  # something above is dropped already
            level = below
        else:
            level[steps[-1]] = None
    return tree


def _without(value: Any, tree: _Tree) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(item, tree[key]) if key in tree else item for key, item in value.items() if tree.get(str(key), True) is not None
        }
    if isinstance(value, list):
        return [
            _without(item, tree[index]) if index in tree else item for index, item in enumerate(value) if tree.get(index, True) is not None
        ]
    return value
