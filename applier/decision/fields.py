"""Sets of fields as `managedFields` write them (FieldsV1), and the algebra on them.

A set is the JSON itself, never changed in place: a key is one step of a path (`f:name`, `k:{"name":"main"}`, `v:"x"`, `i:0`). The map below
it holds the longer paths; it is empty, or has the key `.`, when the path itself is in the set. An empty map at the root is the empty set.
The rules are those of structured-merge-diff's `fieldpath`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from applier.outcome import ItemKey, Path

Fields = dict[str, Any]

_PLAIN = re.compile(r"[A-Za-z0-9 _./:@*+=,;()-]*").fullmatch
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def is_member(node: Fields) -> bool:
    """Whether the path that leads to a node is itself in the set."""
    return not node or "." in node


def below(node: Fields) -> Fields:
    """The longer paths of a node, as a set of their own."""
    return {key: child for key, child in node.items() if key != "."} if "." in node else node


def node_of(member: bool, children: Fields) -> Fields | None:
    """A node from its two halves; None when nothing is left of it."""
    if not children:
        return {} if member else None
    return {".": {}, **children} if member else children


def union(first: Fields, second: Fields) -> Fields:
    """The paths of either set."""
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
    """The paths of the first set that are not in the second; a path is not taken away with its parent."""
    left: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        node = mine if other is None else node_of(is_member(mine) and not is_member(other), difference(below(mine), below(other)))
        if node is not None:
            left[key] = node
    return left


def without(first: Fields, second: Fields) -> Fields:
    """The paths of the first set that neither are in the second nor lie below one of it."""
    left: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        if other is None:
            left[key] = mine
        elif not is_member(other):
            node = node_of(is_member(mine), without(below(mine), other))
            if node is not None:
                left[key] = node
    return left


def intersection(first: Fields, second: Fields) -> Fields:
    """The paths of both sets."""
    shared: Fields = {}
    for key, mine in first.items():
        other = second.get(key)
        if other is not None:
            node = node_of(is_member(mine) and is_member(other), intersection(below(mine), below(other)))
            if node is not None:
                shared[key] = node
    return shared


def add(fields: Fields, steps: Iterable[str]) -> None:
    """Puts one path into a set that the caller has just made."""
    node = fields
    fresh = True
    for step in steps:
        if not node and not fresh:
            node["."] = {}
        fresh = step not in node
        node = node.setdefault(step, {})
    if node and not fresh:
        node["."] = {}


def find(fields: Fields, steps: Iterable[str]) -> Fields | None:
    """The node at a path; None when no path of the set leads there."""
    node: Fields | None = fields
    for step in steps:
        node = node.get(step) if node is not None else None
    return node


def members(fields: Fields, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path of a set, in the server's order: those that end on a level first, then what lies below them."""
    ordered = sorted((key for key in fields if key != "."), key=lambda key: ("fkvi".index(key[0]), key))
    for key in ordered:
        if is_member(fields[key]):
            yield (*before, key)
    for key in ordered:
        if fields[key]:
            yield from members(fields[key], (*before, key))


def json_of(value: Any) -> str:
    """A value as the server writes it into keys of FieldsV1: compact, and with `<`, `>` and `&` escaped."""
    if value.__class__ is str and _PLAIN(value):
        return f'"{value}"'
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        if character in text:
            text = text.replace(character, escaped)
    return text


def item_step(values: Iterable[tuple[str, Any]]) -> str:
    """The step to an item of an associative list, from its keys and their values in the order of the keys' names."""
    return "k:{" + ",".join(f"{json_of(name)}:{json_of(value)}" for name, value in values) + "}"


def value_step(value: Any) -> str:
    """The step to an item of a set."""
    return "v:" + json_of(value)


@lru_cache(maxsize=4096)
def read_step(step: str) -> str | int | ItemKey:
    """A step as paths have it: a name, a list position or an `ItemKey`. Raises ValueError for what is no step of FieldsV1."""
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
    """A path for people and programs from the steps of FieldsV1."""
    return tuple(read_step(step) for step in steps)


def step_of(element: Any) -> str:
    """The step of FieldsV1 for one element of a path."""
    if isinstance(element, ItemKey):
        if element.fields[0][0] == "":
            return value_step(element.fields[0][1])
        return item_step(sorted(element.fields))
    return f"i:{element}" if isinstance(element, int) else f"f:{element}"
