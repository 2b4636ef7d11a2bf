"""A live object with changes carried out, for showing: what it would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from applier.outcome import ABSENT, FieldChange, ItemKey, Path
from applier.ref import Manifest

NOISE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the server keeps for itself: every write changes some of it, and nobody means it."""


def patched(live: Manifest, changes: Sequence[FieldChange]) -> Manifest:
    """The live object as it is after the changes. `live` stays as it is; only what changes is copied."""
    result: Any = live
    for change in changes:
        result = _with(result, change.path, change.new)
    found: Manifest = result
    return found


def without_noise(manifest: Manifest) -> Manifest:
    """The object without its status and without what the server keeps in its metadata."""
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in NOISE}
    return {key: metadata if key == "metadata" else value for key, value in manifest.items() if key != "status"}


def _with(value: Any, path: Path, new: Any) -> Any:
    """The value with `new` at the path. Maps and items on the way that are missing are made, unless something is to go away."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, ItemKey):
        return _with_item(value, step, rest, new)
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        return _placed(items, step, _with(items[step] if step < len(items) else None, rest, new))
    entries = dict(value) if isinstance(value, dict) else {}
    inner = _with(entries.get(step, ABSENT if new is ABSENT else None), rest, new)
    if inner is ABSENT:
        entries.pop(step, None)
        return entries if entries or isinstance(value, dict) else ABSENT
    entries[step] = inner
    return entries


def _with_item(value: Any, key: ItemKey, rest: Path, new: Any) -> Any:
    items = list(value) if isinstance(value, list) else []
    place = next((index for index, item in enumerate(items) if _is_item(item, key)), len(items))
    named = {name: part for name, part in key.fields if name}
    start = items[place] if place < len(items) else (named or key.fields[0][1])
    return _placed(items, place, _with(start, rest, new))


def _placed(items: list[Any], place: int, item: Any) -> list[Any]:
    """The list with an item at a place, or without the one there; one place behind the end appends."""
    items[place : place + 1] = [] if item is ABSENT else [item]
    return items


def _is_item(item: Any, key: ItemKey) -> bool:
    """Whether a list's item is the one with this key; keys that an item leaves out count as not given."""
    if not isinstance(item, dict):
        return len(key.fields) == 1 and key.fields[0] == ("", item)
    return all(item.get(name) == part for name, part in key.fields if name) and any(name for name, _ in key.fields)
