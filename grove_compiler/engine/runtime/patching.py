"""Applies patch operations to read-only objects: each returns a new object that shares everything but the containers on the path.

The operations are those of RFC 6902, with two liberties that rules need: `add` and `merge` make parents that are missing, and
`remove` of what is not there does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.engine.runtime.access import OMIT, EvaluationError, describe
from kube_objects import json_pointer
from kube_objects.json_pointer import is_index, join

Pointer = tuple[str, ...]
Change = Callable[[Any, str], None]
"""Changes a copy of a map or of a list at a key or an index."""


def pointer(text: str) -> Pointer:
    """Parses a JSON pointer (RFC 6901) into its steps: `/a~1b/0` is `("a/b", "0")`."""
    if not text.startswith("/"):
        raise EvaluationError(f"{text!r} is not a JSON pointer: it begins with `/`")
    return json_pointer.split(text)


def patch_add(value: Any, path: Pointer, new: Any) -> Any:
    """Sets a key, inserts before an index, or appends with `-`. `omit` changes nothing."""

    def put(parent: Any, step: str) -> None:
        if isinstance(parent, dict):
            parent[step] = new
        elif step == "-" or (is_index(step) and int(step) <= len(parent)):
            parent.insert(len(parent) if step == "-" else int(step), new)
        else:
            raise EvaluationError(f"at {join(path)}: no place {step!r} in a list of {len(parent)}")

    return value if new is OMIT else _change(value, path, path, put, make=True)


def patch_replace(value: Any, path: Pointer, new: Any) -> Any:
    """Replaces the value at the path. Raises `EvaluationError` when nothing is there."""

    def put(parent: Any, step: str) -> None:
        parent[_existing(parent, step, path)] = new

    return value if new is OMIT else _change(value, path, path, put)


def patch_remove(value: Any, path: Pointer) -> Any:
    """Removes the value at the path; does nothing when nothing is there."""

    def take(parent: Any, step: str) -> None:
        del parent[_existing(parent, step, path)]

    return _change(value, path, path, take) if _exists(value, path) else value


def identified(value: Any) -> Any:
    """Returns the object after a patch. Raises `EvaluationError` where it lost its apiVersion, kind or name."""
    metadata = value.get("metadata")
    place = metadata if isinstance(metadata, dict) else {}
    for field, text in (("apiVersion", value.get("apiVersion")), ("kind", value.get("kind")), ("metadata.name", place.get("name"))):
        if not isinstance(text, str) or not text:
            raise EvaluationError(f"it leaves {describe(text)} in {field}, where every object has a text")
    return value


def patch_test(value: Any, path: Pointer, expected: Any) -> Any:
    """Returns the object unchanged. Raises `EvaluationError` when it holds another value at the path."""
    present = value
    for step in path:
        present = present[_existing(present, step, path)]
    if present != expected:
        raise EvaluationError(f"at {join(path)}: expected {expected!r}, found {present!r}")
    return value


def patch_merge(value: Any, path: Pointer, new: Any) -> Any:
    """Merges a map into the one at the path (RFC 7386): maps key by key, null removes, anything else replaces."""

    def put(parent: Any, step: str) -> None:
        key = step if isinstance(parent, dict) else _existing(parent, step, path)
        parent[key] = merge_patch(parent.get(key) if isinstance(parent, dict) else parent[key], new)

    return value if new is OMIT else _change(value, path, path, put, make=True)


def merge_patch(present: Any, new: Any) -> Any:
    """Returns a value merged with another by RFC 7386: maps key by key, null removes, anything else replaces."""
    if not isinstance(new, dict):
        return new
    result = dict(present) if isinstance(present, dict) else {}
    for key, part in new.items():
        if part is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), part)
    return result


def merge(target: dict[str, Any], extra: Any) -> None:
    """Evaluates `$merge`: copies the entries of a map, or of a list of maps, into a map under construction."""
    if extra is None or extra is OMIT:
        return
    if isinstance(extra, list):
        for part in extra:
            merge(target, part)
        return
    if not isinstance(extra, dict):
        raise EvaluationError(f"`$merge` needs a map, found {describe(extra)}")
    target.update(extra)


def _change(value: Any, path: Pointer, whole: Pointer, change: Change, make: bool = False) -> Any:
    """Returns a copy of `value` after `change` was called with a copy of the parent of the path's last step.

    `whole` is the path from the root, for messages; with `make`, missing parents are created.
    """
    step, rest = path[0], path[1:]
    if not rest:
        if not isinstance(value, dict | list):
            raise EvaluationError(f"at {join(whole)}: cannot go into {describe(value)}")
        copy = value.copy()
        change(copy, step)
        return copy
    if isinstance(value, dict) and value.get(step) is None and make:
        if is_index(rest[0]):
            raise EvaluationError(f"at {join(whole)}: nothing is there yet, so an item is added with `-`")
        return {**value, step: _change([] if rest[0] == "-" else {}, rest, whole, change, make)}
    key = _existing(value, step, whole)
    copy = value.copy()
    copy[key] = _change(value[key], rest, whole, change, make)
    return copy


def _exists(value: Any, path: Pointer) -> bool:
    try:
        for step in path:
            value = value[_existing(value, step, path)]
    except EvaluationError:
        return False
    return True


def _existing(value: Any, step: str, path: Pointer) -> Any:
    """Returns the key or index of an existing step. Raises `EvaluationError` when it does not exist."""
    if isinstance(value, dict) and step in value:
        return step
    if isinstance(value, list) and is_index(step) and int(step) < len(value):
        return int(step)
    raise EvaluationError(f"at {join(path)}: there is no {step!r} in {describe(value)}")
