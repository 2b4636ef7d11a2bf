"""Recognizes an apply that changes nothing in one walk over the intent, the live object and the fields that we own.

A positive answer is always that of the full simulation (`server_side_apply`). A negative one means undecided: the walk gives up on most
values that are spelled differently, on empty ones, and on items in another order. Nearly all objects of a settled cluster take this
path, so it is written for speed: members of maps, most of which are equal scalars, are compared without a call.

Every `_same…` is given a part of the intent, the live part at the same place, their type, and the fields that we own below that place.
`unmatched` is the number of those directly below it: where each belongs to a member of the intent, we own what applying it would set.
"""

from __future__ import annotations

from typing import Any

from applier.decision.fields import SERVER_METADATA, Fields, intersection
from applier.decision.persisted_form import stored_alike
from applier.decision.schema import Type
from applier.decision.values import equal, is_unset
from applier.ref import Manifest

_MISSING: Any = object()


class _Ownership:
    """Determines, on first use, whether another manager shares any of our fields.

    The server compares values as they are sent when it looks for conflicts: with a shared field, `1000m` conflicts with a stored `1`.
    """

    __slots__ = ("_is_exclusive", "_live", "_owned")

    def __init__(self, live: Manifest, owned: Fields) -> None:
        self._live, self._owned = live, owned
        self._is_exclusive: bool | None = None

    def is_exclusive(self) -> bool:
        if self._is_exclusive is None:
            entries = self._live["metadata"]["managedFields"]
            others = (entry.get("fieldsV1") or {} for entry in entries if entry.get("fieldsV1") is not self._owned)
            self._is_exclusive = not any(intersection(self._owned, other) for other in others)
        return self._is_exclusive


def is_surely_unchanged(intent: Manifest, live: Manifest, schema: Type, owned: Fields) -> bool:
    """Reports whether applying certainly changes neither values nor the field set that we own, `owned`."""
    merged = intent.copy()
    for name in ("apiVersion", "kind", "status") if schema.status else ("apiVersion", "kind"):
        merged.pop(name, None)
    metadata = {name: value for name, value in merged.pop("metadata", {}).items() if name not in SERVER_METADATA}
    if metadata:
        merged["metadata"] = metadata
    return _same_members(merged, live, schema, owned, len(owned), _Ownership(live, owned))


def _same_members(value: dict[str, Any], live: dict[str, Any], schema: Type, owned: Fields, unmatched: int, ownership: _Ownership) -> bool:
    """Compares the members of a granular map."""
    fields = schema.fields
    if not fields:
        return _same_entries(value, live, schema.element, owned, unmatched, ownership)
    for name, member in value.items():
        known = fields.get(name)
        if known is None:
            return False
        step, below = known
        node = owned.get(step)
        current = live.get(name, _MISSING)
        if node is None:
            if member == [] and current is _MISSING and below.go and below.list_kind in ("map", "set"):
                continue  # an empty list owns nothing, and Go omits it
            return False
        kind = member.__class__
        if kind is dict or kind is list:
            if not _same(member, current, below, node, ownership):
                return False
        elif node or (
            (kind is not current.__class__ or member != current or member is None) and not _same_stored(member, current, below, ownership)
        ):
            return False
        unmatched -= 1
    return not unmatched


def _same_entries(
    value: dict[str, Any], live: dict[str, Any], schema: Type | None, owned: Fields, unmatched: int, ownership: _Ownership
) -> bool:
    """Compares the members of a map under undeclared names, such as labels, or of whatever a schema leaves open."""
    if len(value) != unmatched or schema is None:
        return False
    for name, member in value.items():
        current, node = live.get(name, _MISSING), owned.get("f:" + name, _MISSING)
        if current is _MISSING or node is _MISSING:
            return False
        kind = member.__class__
        if kind is dict or kind is list:
            if not _same(member, current, schema, node, ownership):
                return False
        elif node or (
            (kind is not current.__class__ or member != current or member is None) and not _same_stored(member, current, schema, ownership)
        ):
            return False
    return True


def _same(value: Any, live: Any, schema: Type, owned: Fields, ownership: _Ownership) -> bool:
    """Compares any value: a granular map or list part by part, any other, which is owned as a whole, at once."""
    kind = value.__class__
    if kind is dict:
        if value and schema.is_map and not schema.map_atomic:
            if not owned or "." in owned or live.__class__ is not dict:
                return False
            return _same_members(value, live, schema, owned, len(owned), ownership)
        if not schema.is_map:
            return False
    elif kind is list:
        if schema.list_kind == "map":
            return bool(value) and live.__class__ is list and "." not in owned and _same_items(value, live, schema, owned, ownership)
        if schema.list_kind == "set":
            return bool(value) and live.__class__ is list and _same_set(value, live, owned)
        if not schema.is_list:
            return False
    if owned:
        return False
    return (value is not None and kind is live.__class__ and equal(value, live)) or _same_stored(value, live, schema, ownership)


def _same_stored(value: Any, live: Any, schema: Type, ownership: _Ownership) -> bool:
    """Reports whether the server would store a leaf that only we own as the live one: normalized, defaulted, or omitted when empty."""
    if live is _MISSING:
        return ownership.is_exclusive() and is_unset(value, schema)
    if value is None or not ownership.is_exclusive():
        return False
    return stored_alike(live, value, schema)


def _same_items(value: list[Any], live: list[Any], schema: Type, owned: Fields, ownership: _Ownership) -> bool:
    """Compares the items of an associative list, in an order that the live list keeps."""
    if len(owned) != len(value):
        return False
    keys, item_type, is_atomic = schema.keys, schema.item, schema.item.map_atomic
    # A loop of its own for a single key: the one for several keys would do for both, but slows the walk by a sixth.
    if len(keys) != 1:
        return not is_atomic and _same_items_of_many_keys(value, live, schema, owned, ownership)
    key = keys[0]
    if len(live) != len(value) and len({item.get(key) for item in live}) != len(live):
        return False
    candidates = iter(live)
    for item in value:
        if item.__class__ is not dict:
            return False
        name = item.get(key)
        node = owned.get(f'k:{{"{key}":"{name}"}}' if name.__class__ is str else f'k:{{"{key}":{name}}}')
        if node is None:
            return False
        for candidate in candidates:
            if candidate.get(key) == name:
                break
        else:
            return False
        if is_atomic:  # owner references, which every object made by a controller has
            if node or not equal(item, candidate):
                return False
        elif "." not in node or not _same_members(item, candidate, item_type, node, len(node) - 1, ownership):
            return False
    return True


def _same_items_of_many_keys(value: list[Any], live: list[Any], schema: Type, owned: Fields, ownership: _Ownership) -> bool:
    """Compares items with several keys, such as ports; absent keys have their defaults."""
    defaults = schema.key_defaults
    if len(live) != len(value):
        return False
    for item, candidate in zip(value, live, strict=True):
        if item.__class__ is not dict:
            return False
        parts = []
        for key in schema.keys:
            part = item.get(key, defaults.get(key))
            if part is None or part != candidate.get(key, defaults.get(key)):
                return False
            parts.append(f'"{key}":"{part}"' if part.__class__ is str else f'"{key}":{part}')
        node = owned.get("k:{" + ",".join(parts) + "}")
        if node is None or "." not in node or not _same_members(item, candidate, schema.item, node, len(node) - 1, ownership):
            return False
    return True


def _same_set(value: list[Any], live: list[Any], owned: Fields) -> bool:
    """Reports whether a list of type `set` has only strings that we own and the live list has, in an order that the live list keeps."""
    if len(owned) != len(value) or len(set(live)) != len(live):
        return False
    candidates = iter(live)  # `in` consumes it, so each item is searched for after the one before
    return all(item.__class__ is str and owned.get(f'v:"{item}"') == {} and item in candidates for item in value)
