"""Patches the fields of a create-only object that follow the graph nevertheless, such as the scheduling gates of a Pod.

Server-side apply cannot do this: to remove an item of a list, it needs the whole object as it was applied, which is unknown for a Pod whose
template has changed since. So the difference in these fields is written as a JSON patch (RFC 6902).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from applier.outcome import ABSENT, FieldChange, ItemKey, Path
from applier.ref import Manifest
from kube_objects import json_pointer

Patch = list[dict[str, Any]]
LABELS = "/metadata/labels/"


class CopiedFields(NamedTuple):
    """Holds a JSON patch and its changes, for reports. Both are empty if nothing differs."""

    patch: Patch
    changes: list[FieldChange]


def follow(
    manifest: Manifest, live: Manifest, pointers: Sequence[str], is_fixed: Callable[[FieldChange], bool] = lambda _: False
) -> CopiedFields:
    """Computes the patch that changes only these fields of a live object to their state in a manifest.

    The pointers are JSON pointers, except that they identify items of lists by `name`, as positions differ between objects. Of a map, only
    the entries of the manifest are compared, since other clients may have added theirs. A field that the manifest lacks is removed. What
    `is_fixed` is left out: the server would reject it, and all else with it.
    """
    differing = [pointer for pointer in pointers if not _is_surely_same(manifest, live, pointer)]
    if not differing:  # as in nearly every pod, of which a set may have thousands
        return CopiedFields([], [])
    parts = [part for pointer in differing for part in _at(manifest, live, pointer) if not any(map(is_fixed, part.changes))]
    patch = [operation for part in parts for operation in part.patch]
    if any(operation["path"].startswith(LABELS) for operation in patch) and not live["metadata"].get("labels"):
        patch.insert(0, {"op": "add", "path": LABELS.rstrip("/"), "value": {}})
    return CopiedFields(patch, [change for part in parts for change in part.changes])


def _is_surely_same(manifest: Manifest, live: Manifest, pointer: str) -> bool:
    """Reports whether both have one text there, or nothing, which takes a tenth of the time of a comparison with its path."""
    wanted: Any = manifest
    existing: Any = live
    for token in json_pointer.split(pointer):
        if not isinstance(wanted, dict) or not isinstance(existing, dict):
            return wanted is existing is None
        wanted, existing = wanted.get(token), existing.get(token)
    return wanted is existing is None or (isinstance(wanted, str) and wanted == existing)


def _at(manifest: Manifest, live: Manifest, pointer: str) -> Iterator[CopiedFields]:
    target, place = _resolve(manifest, pointer), _resolve(live, pointer)
    if place.parent is ABSENT and not (pointer.startswith(LABELS) and target.value is not ABSENT):
        # Without the parent there is nothing to remove, and of parents a patch creates only the labels, which somebody may have taken.
        return
    if isinstance(target.value, dict) and isinstance(place.value, dict):
        for key, value in target.value.items():
            old = place.value.get(key, ABSENT)
            if old != value:
                change = FieldChange((*place.path, key), old, value)
                yield CopiedFields([{"op": "add", "path": json_pointer.join((key,), place.pointer), "value": value}], [change])
        return
    if target.value is ABSENT and place.value is not ABSENT:
        # The test prevents the removal of another item that is at this position of a list by now.
        test = {"op": "test", "path": place.pointer, "value": place.value}
        yield CopiedFields([test, {"op": "remove", "path": place.pointer}], [FieldChange(place.path, place.value, ABSENT)])
    elif target.value is not ABSENT and target.value != place.value:
        change = FieldChange(place.path, place.value, target.value)
        yield CopiedFields([{"op": "add", "path": place.pointer, "value": target.value}], [change])


class _Place(NamedTuple):
    """Resolves a pointer in an object: the value there and the one around it (ABSENT for none), with list positions filled in."""

    value: Any
    parent: Any
    pointer: str
    path: Path


def _resolve(value: Any, pointer: str) -> _Place:
    path: Path = ()
    parent: Any = ABSENT
    where = ""
    for name in json_pointer.split(pointer):
        element: Any = name
        parent, step = value, name
        if isinstance(value, list):
            index = next((index for index, item in enumerate(value) if isinstance(item, dict) and item.get("name") == name), None)
            value, step = (ABSENT, "-") if index is None else (value[index], str(index))
            element = ItemKey((("name", name),))
        else:
            value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
        where, path = json_pointer.join((step,), where), (*path, element)
    return _Place(value, parent, where, path)
