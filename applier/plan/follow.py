"""Patches the places of a create-only object that follow the graph all the same, such as the scheduling gates of a Pod.

Server-side apply is no help there: to take one item out of a list it wants the whole object again, as it was applied, and of a Pod
nobody knows that any more once its template has changed. So the difference at these places is written as a JSON patch (RFC 6902).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from applier.outcome import ABSENT, FieldChange, ItemKey, Path
from applier.ref import Manifest

Patch = list[dict[str, Any]]


class Following(NamedTuple):
    """Holds a JSON patch and the changes that it makes, for reports. Both are empty where nothing differs."""

    patch: Patch
    changes: list[FieldChange]


def follow(manifest: Manifest, live: Manifest, pointers: Sequence[str]) -> Following:
    """Computes the patch that brings a live object to the state of a manifest at these places and nowhere else.

    A pointer is a JSON pointer in which an item of a list is named by its `name`, for positions differ from one object to the next. At a
    map only the entries count that the manifest has: others may have put theirs beside them. What the manifest lacks is taken out.
    """
    operations = [one for pointer in pointers for one in _at(manifest, live, pointer)]
    return Following([operation for one in operations for operation in one.patch], [change for one in operations for change in one.changes])


def _at(manifest: Manifest, live: Manifest, pointer: str) -> Iterator[Following]:
    target, place = _look(manifest, pointer), _look(live, pointer)
    if place.parent is ABSENT:
        # Where not even the parent exists, there is nothing to take out; and to put something in is for whoever makes the object.
        return
    if isinstance(target.value, dict) and isinstance(place.value, dict):
        for key, value in target.value.items():
            old = place.value.get(key, ABSENT)
            if old != value:
                change = FieldChange((*place.path, key), old, value)
                yield Following([{"op": "add", "path": f"{place.pointer}/{_escaped(key)}", "value": value}], [change])
        return
    if target.value is ABSENT and place.value is not ABSENT:
        # The test keeps a patch from taking out what has meanwhile come to stand at this position of a list.
        test = {"op": "test", "path": place.pointer, "value": place.value}
        yield Following([test, {"op": "remove", "path": place.pointer}], [FieldChange(place.path, place.value, ABSENT)])
    elif target.value is not ABSENT and target.value != place.value:
        change = FieldChange(place.path, place.value, target.value)
        yield Following([{"op": "add", "path": place.pointer, "value": target.value}], [change])


class _Place(NamedTuple):
    """Resolves a pointer in an object: the value there and the one around it (ABSENT for none), with list positions filled in."""

    value: Any
    parent: Any
    pointer: str
    path: Path


def _look(value: Any, pointer: str) -> _Place:
    path: Path = ()
    parent: Any = ABSENT
    where = ""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        element: Any = name
        parent, step = value, token
        if isinstance(value, list):
            index = next((index for index, item in enumerate(value) if isinstance(item, dict) and item.get("name") == name), None)
            value, step = (ABSENT, "-") if index is None else (value[index], str(index))
            element = ItemKey((("name", name),))
        else:
            value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
        where, path = f"{where}/{step}", (*path, element)
    return _Place(value, parent, where, path)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
