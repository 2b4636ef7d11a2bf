"""What is sent for an object: what we want, with what belongs to others taken out.

A field that we yield is set on creation. Afterwards it is left out as soon as somebody else owns it. While nobody does, the value that
is there is sent: leaving it out would make the server take it away. (Flux' drift rules choose between the same two.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from applier.outcome import ABSENT
from applier.plan.takeover import entries_of
from applier.ref import Manifest


def sent(manifest: Manifest, live: Manifest | None, yields: Sequence[str], manager: str) -> Manifest:
    """The manifest to apply over a live object; the same one when nothing is yielded. Only changed paths are copied."""
    if live is None:
        return manifest
    for pointer in yields:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        if _at(manifest, manifest, steps) is not ABSENT:
            value = ABSENT if is_held_by_others(live, manifest, steps, manager) else _at(live, manifest, steps)
            manifest = _with(manifest, steps, value)
    return manifest


def is_held_by_others(live: Manifest, manifest: Manifest, steps: Sequence[str], manager: str) -> bool:
    """Says whether another manager owns this field, or something in it."""
    return any(entry.get("manager") != manager and _is_in(entry.get("fieldsV1") or {}, manifest, steps) for entry in entries_of(live))


def _is_in(fields: Any, wanted: Any, steps: Sequence[str]) -> bool:
    """Follows a path through FieldsV1. Items of lists are named there by their keys, which the wanted item has too."""
    for step in steps:
        if isinstance(wanted, list):
            wanted = wanted[int(step)]
            fields = next((inner for key, inner in fields.items() if key[:2] == "k:" and _has(wanted, json.loads(key[2:]))), None)
        else:
            wanted = wanted[step]
            fields = fields.get(f"f:{step}")
        if fields is None:
            return False
    return True


def _has(item: Any, keys: dict[str, Any]) -> bool:
    return isinstance(item, dict) and all(item.get(name) == value for name, value in keys.items())


def _at(value: Any, wanted: Any, steps: Sequence[str]) -> Any:
    """The value at a path of the wanted object; in another object, an item of a list is the one of the same name, or place."""
    for step in steps:
        if isinstance(wanted, list):
            wanted = wanted[int(step)] if step.isdigit() and int(step) < len(wanted) else ABSENT
            value = _item(value, wanted, int(step)) if wanted is not ABSENT else ABSENT
        elif isinstance(wanted, dict):
            wanted = wanted.get(step, ABSENT)
            value = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return value


def _item(items: Any, wanted: Any, place: int) -> Any:
    if not isinstance(items, list):
        return ABSENT
    if isinstance(wanted, dict) and "name" in wanted:
        return next((item for item in items if isinstance(item, dict) and item.get("name") == wanted["name"]), ABSENT)
    return items[place] if place < len(items) else ABSENT


def _with(value: Any, steps: Sequence[str], new: Any) -> Any:
    """A copy with another value at a path, or without it."""
    step, rest = steps[0], steps[1:]
    if isinstance(value, list):
        place = int(step)
        inner = [_with(value[place], rest, new)] if rest else [new] if new is not ABSENT else []
        return [*value[:place], *inner, *value[place + 1 :]]
    if rest:
        return {**value, step: _with(value[step], rest, new)}
    return {key: kept for key, kept in value.items() if key != step} if new is ABSENT else {**value, step: new}
