"""Finds maps and lists that an apply empties: the server stores null for them, which hardly a definition (CRD) admits, or nothing.

Where an applied map loses all of its fields but is still applied, as `resources: {limits: ...}` that becomes `resources: {}`, which is what
clients in Go write, structured-merge-diff removes the fields that nobody owns any more and leaves null for the map. What to do differs from
field to field: without `emptyDir: {}` a volume has no source. So the map is emptied first, which leaves nothing to remove for the apply.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from applier.decision.managers import BadManagedFields, managers_of
from applier.decision.schema import Type
from applier.decision.server_side_apply import simulate
from applier.decision.values import LIST, SchemaMismatch, is_leaf, member_type, shape_of, steps_to
from applier.ref import Manifest, resource_version_of
from kube_objects import json_pointer


class Emptied(NamedTuple):
    """Holds the JSON pointers of what is emptied, in the intent and in the live object, and the empty value: a map or a list."""

    intent: str
    live: str
    value: Any = None


def emptied_parts(intent: Manifest, live: Manifest, schema: Type | None, *, manager: str) -> list[Emptied]:
    """Returns the maps and lists for which the server would store null or nothing; none if an object violates the schema."""
    if schema is None:
        return []
    try:
        candidates = list(_empty(intent, live, schema, Emptied("", "")))
        if not candidates:  # nearly always
            return []
        merged = simulate(live, intent, schema, managers_of(live), manager=manager, version=str(intent.get("apiVersion"))).object
        nulls = {places.intent for places in _null(intent, merged, schema, Emptied("", ""))}
    except (SchemaMismatch, BadManagedFields):
        return []
    return [places for places in candidates if places.intent in nulls]


def emptying_patch(live: Manifest, emptied: list[Emptied]) -> list[dict[str, Any]]:
    """Returns the JSON patch that empties these, on this version of the object only."""
    test = {"op": "test", "path": "/metadata/resourceVersion", "value": resource_version_of(live)}
    return [test, *({"op": "replace", "path": places.live, "value": places.value} for places in emptied)]


def without_emptied(intent: Manifest, emptied: list[Emptied]) -> Manifest:
    """Returns a copy of the intent without these, which are members of maps: items of lists have keys."""
    rest = copy.deepcopy(intent)
    for places in emptied:
        *path, name = json_pointer.split(places.intent)
        around: Any = rest
        for step in path:
            around = around[int(step) if isinstance(around, list) else step]
        del around[name]
    return rest


def _empty(intent: Any, live: Any, schema: Type, at: Emptied) -> Iterator[Emptied]:
    """Yields the empty values of an intent that are not empty in another object."""
    if not intent:
        if live and isinstance(live, intent.__class__) and not is_leaf(schema, shape_of(schema, intent)):
            yield at._replace(value=intent)
        return
    for wanted, existing, below, place in _members(intent, live, schema, at):
        yield from _empty(wanted, existing, below, place)


def _null(intent: Any, merged: Any, schema: Type, at: Emptied) -> Iterator[Emptied]:
    """Yields the empty values of an intent that are null or gone after the apply."""
    if not intent:
        if merged is None:
            yield at
        return
    for wanted, result, below, place in _members(intent, merged, schema, at):
        yield from _null(wanted, result, below, place)


def _members(first: Any, second: Any, schema: Type, at: Emptied) -> Iterator[tuple[Any, Any, Type, Emptied]]:
    """Yields what both values have in the same place, with its type and pointers."""
    if isinstance(first, dict) and isinstance(second, dict) and schema.is_map and not schema.map_atomic:
        for name, value in first.items():
            if isinstance(value, dict | list):
                below = Emptied(*(json_pointer.join((name,), pointer) for pointer in (at.intent, at.live)))
                yield value, second.get(name), member_type(schema, name), below
    elif (
        isinstance(first, list) and isinstance(second, list) and schema.is_list and not is_leaf(schema, LIST) and schema.list_kind == "map"
    ):
        places = {step: index for index, step in enumerate(steps_to(second, schema))}
        for index, step in enumerate(steps_to(first, schema)):
            if step in places:
                yield first[index], second[places[step]], schema.item, Emptied(f"{at.intent}/{index}", f"{at.live}/{places[step]}")
