"""Computes with field sets in the form of `managedFields` (FieldsV1), and derives the set that applying an object would own.

A set is the JSON itself, never changed in place. A key is one step (path element) of a field path: `f:name`, `k:{"name":"main"}`, `v:"x"`
or `i:0`. Its value, a node, holds the longer paths; it is empty, or has the key `.`, if the path itself is a member of the set. An empty
map at the root is the empty set. The rules are those of structured-merge-diff's `fieldpath`, and of its `ToFieldSet` for an object's set.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from applier.decision.schema import Type
from applier.decision.values import LIST, MAP, is_leaf, item_step, member_type, shape_of, steps_to, value_step
from applier.outcome import ItemKey, Path

Fields = dict[str, Any]


def is_member(node: Fields) -> bool:
    """Reports whether the path to a node is itself a member of the set."""
    return not node or "." in node


def below(node: Fields) -> Fields:
    """Returns the paths below a node, as a set relative to it."""
    return {key: child for key, child in node.items() if key != "."} if "." in node else node


def node_of(member: bool, children: Fields) -> Fields | None:
    """Builds a node from its own membership and the paths below it; None if both are empty."""
    if not children:
        return {} if member else None
    return {".": {}, **children} if member else children


def union(first: Fields, second: Fields) -> Fields:
    """Returns the paths that are in either set."""
    if not first or not second:
        return first or second
    joined = dict(first)
    for key, other in second.items():
        mine = joined.get(key)
        joined[key] = other if mine is None else _both(mine, other)
    return joined


def _both(first: Fields, second: Fields) -> Fields:
    node = node_of(is_member(first) or is_member(second), union(below(first), below(second)))
    return {} if node is None else node


def difference(first: Fields, second: Fields) -> Fields:
    """Returns the paths of the first set that are not in the second. Removing a path does not remove the paths below it."""
    rest: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        node = mine if other is None else node_of(is_member(mine) and not is_member(other), difference(below(mine), below(other)))
        if node is not None:
            rest[key] = node
    return rest


def recursive_difference(first: Fields, second: Fields) -> Fields:
    """Returns the paths of the first set that are neither in the second nor below one of its paths (`RecursiveDifference`)."""
    rest: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        if other is None:
            rest[key] = mine
        elif not is_member(other):
            node = node_of(is_member(mine), recursive_difference(below(mine), other))
            if node is not None:
                rest[key] = node
    return rest


def intersection(first: Fields, second: Fields) -> Fields:
    """Returns the paths that are in both sets."""
    shared: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        if other is not None:
            node = node_of(is_member(mine) and is_member(other), intersection(below(mine), below(other)))
            if node is not None:
                shared[key] = node
    return shared


def add(fields: Fields, steps: Iterable[str]) -> None:
    """Adds one path in place, to a set that only the caller holds."""
    node = fields
    fresh = True
    for step in steps:
        if not node and not fresh:
            node["."] = {}
        fresh = step not in node
        node = node.setdefault(step, {})
    if node and not fresh:
        node["."] = {}


def members(fields: Fields, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields every path of a set, in the server's order: on each level first the members, then the paths below them."""
    ordered = sorted((key for key in fields if key != "."), key=lambda key: ("fkvi".index(key[0]), key))
    for key in ordered:
        if is_member(fields[key]):
            yield (*before, key)
    for key in ordered:
        if fields[key]:
            yield from members(fields[key], (*before, key))


@lru_cache(maxsize=4096)
def read_step(step: str) -> str | int | ItemKey:
    """Parses a step of FieldsV1 into an element of a `Path`: a name, a list position or an `ItemKey`. Raises ValueError if it is none."""
    kind, text = step[:2], step[2:]
    if kind == "f:":
        return text
    if kind == "k:":
        return ItemKey(tuple(json.loads(text).items()))
    if kind == "v:":
        return ItemKey((("", json.loads(text)),))
    if kind == "i:":
        return int(text)
    raise ValueError(f"no step of a field path: {step!r}")


def path_of(steps: Iterable[str]) -> Path:
    """Converts steps of FieldsV1 into a `Path`, the form in which fields are reported."""
    return tuple(read_step(step) for step in steps)


def step_of(element: Any) -> str:
    """Converts one element of a `Path` into a step of FieldsV1."""
    if isinstance(element, ItemKey):
        if element.fields[0][0] == "":
            return value_step(element.fields[0][1])
        return item_step(sorted(element.fields))
    return f"i:{element}" if isinstance(element, int) else f"f:{element}"


SERVER_METADATA = frozenset(
    ("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion", "clusterName")
)
"""Fields of `metadata` that no manager owns and no apply changes."""

NEVER_OWNED: Fields = {"f:apiVersion": {}, "f:kind": {}, "f:metadata": {".": {}, **{f"f:{name}": {} for name in sorted(SERVER_METADATA)}}}
"""Fields that the server removes from every manager's set."""


def field_set(value: Any, schema: Type) -> Fields:
    """Returns the set that applying an object owns: its leaves, list items and map keys. Raises `SchemaMismatch`."""
    node = _node(value, schema)
    return {} if node is None or node is _LEAF else node


_LEAF: Fields = {}


def _node(value: Any, schema: Type) -> Fields | None:
    """Returns the node of a value; `_LEAF` if it is owned atomically, None if nothing of it is owned."""
    shape = shape_of(schema, value)
    if is_leaf(schema, shape):
        return _LEAF
    if not value:
        return None
    return _of_map(value, schema) if shape == MAP else _of_list(value, schema)


def _of_map(value: dict[str, Any], schema: Type) -> Fields | None:
    nodes: Fields = {}
    for name, member in value.items():
        node = _node(member, member_type(schema, name))
        if node is _LEAF or member is None or member == {} or name not in schema.fields:
            node = {".": {}, **node} if node else _LEAF
        if node is not None:
            nodes[f"f:{name}"] = node
    return nodes or None


def _of_list(value: list[Any], schema: Type) -> Fields | None:
    steps = steps_to(value, schema)
    times = Counter(steps)
    nodes: Fields = {}
    for step, item in zip(steps, value, strict=True):
        node = _node(item, schema.item) if times[step] == 1 else None
        nodes[step] = {".": {}, **node} if node else _LEAF
    return nodes


def reconciled(fields: Fields, schema: Type) -> Fields:
    """Adapts a set to a schema that has since made lists or maps atomic: ownership of parts becomes ownership of the whole.

    As structured-merge-diff's `ReconcileFieldSetWithSchema`. Returns the same set if nothing changes.
    """
    result: Fields = {}
    changed = False
    for step, node in fields.items():
        adapted = node
        if node and step != ".":
            below = schema.below(step)
            if below is not None:
                adapted = _reconciled_node(node, below)
        changed = changed or adapted is not node
        result[step] = adapted
    return result if changed else fields


def _reconciled_node(node: Fields, schema: Type) -> Fields:
    shape = MAP if schema.is_map else LIST if schema.is_list and not schema.scalar else ""
    if not shape or (shape == MAP and schema.deduced) or (len(node) == 1 and "." in node):
        return node
    return {} if is_leaf(schema, shape) else reconciled(node, schema)


def with_named_fields(fields: Fields, schema: Type | None) -> Fields:
    """Adds every declared field on the path to a member (`EnsureNamedFieldsAreMembers`)."""
    result: Fields = {}
    for step, node in fields.items():
        if node and step != ".":
            below = schema.below(step) if schema is not None else None
            declared = schema is not None and step.startswith("f:") and step[2:] in schema.fields
            inner = with_named_fields(node, below)
            node = {".": {}, **inner} if declared and not is_member(node) else inner
        result[step] = node
    return result
