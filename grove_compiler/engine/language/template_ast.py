"""Structured YAML with expressions in it, as a tree: the form of templates and of the values that rules write."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grove_compiler.engine.language.keys import is_name
from grove_compiler.graph.field_path import FieldPath

Fail = Callable[[FieldPath, str, str], None]
"""Reports a mistake: the path inside the document, what is wrong, and the word that was probably meant."""

MAP_KEYS = {
    "$if": "an expression; when it is false, the map (as a list's item or as a key's value) is left out",
    "$let": "a map of names to expressions, for the rest of the map",
    "$merge": "an expression that gives a map, or a list of maps, whose entries are put in here; none is nothing",
}
ITEM_KEYS = {
    "$for": "`name in expression`: the item is repeated for each value",
    "$if": "an expression; when it is false, the item is left out",
    "$value": "the item itself, where it is not a map",
}

_LOOP = re.compile(r"\s*(\w+)\s+in\s+(.*\S)\s*", re.DOTALL)


@dataclass(slots=True, eq=False)
class Literal:
    """A scalar without expressions."""

    value: Any
    path: FieldPath


@dataclass(slots=True, eq=False)
class Text:
    """A scalar with `{{ }}` in it."""

    text: str
    path: FieldPath


@dataclass(slots=True, eq=False)
class Bare:
    """An expression without braces, as in `$merge`. `origin` is set where another file says it: file, line and what it says."""

    expression: str
    path: FieldPath
    origin: tuple[str, int, str] | None = None


@dataclass(slots=True, eq=False)
class Field:
    """An entry of a map; the key may hold expressions."""

    key: Literal | Text
    value: Shape
    path: FieldPath


@dataclass(slots=True, eq=False)
class MapShape:
    """A map: names, fields and merges in the order in which they are written."""

    entries: list[Field | Bare]
    lets: list[tuple[str, Bare]]
    condition: Bare | None
    path: FieldPath


@dataclass(slots=True, eq=False)
class Item:
    """A list's item, repeated by its loop and guarded by its condition."""

    value: Shape
    loop: tuple[str, Bare] | None
    condition: Bare | None
    path: FieldPath


@dataclass(slots=True, eq=False)
class ListShape:
    """A list of items."""

    items: list[Item]
    path: FieldPath


Shape = Literal | Text | Bare | MapShape | ListShape


def parse_shape(value: Any, path: FieldPath, fail: Fail) -> Shape:
    """The tree of a document's part. Mistakes in `$` keys go to `fail`; the rest is parsed all the same."""
    if isinstance(value, dict):
        return _parse_map(value, path, fail)
    if isinstance(value, list):
        return ListShape([_parse_item(item, (*path, index), fail) for index, item in enumerate(value)], path)
    return _parse_scalar(value, path)


def _parse_scalar(value: Any, path: FieldPath) -> Literal | Text:
    return Text(value, path) if isinstance(value, str) and "{{" in value else Literal(value, path)


def _parse_map(value: dict[str, Any], path: FieldPath, fail: Fail) -> MapShape:
    entries: list[Field | Bare] = []
    lets: list[tuple[str, Bare]] = []
    condition: Bare | None = None
    for key, entry in value.items():
        here = (*path, key)
        if key == "$merge":
            entries += [_bare(part, here, fail) for part in (entry if isinstance(entry, list) else [entry])]
        elif key == "$if":
            condition = _bare(entry, here, fail)
        elif key == "$let":
            lets = _parse_lets(entry, here, fail)
        elif key in ITEM_KEYS:
            fail(here, f"`{key}` has a meaning only in a list's item", "")
        elif key.startswith("$") and not key.startswith("${"):
            _unknown_key(key, {**MAP_KEYS, **ITEM_KEYS}, here, fail)
        else:
            entries.append(Field(_parse_scalar(key, here), parse_shape(entry, here, fail), here))
    return MapShape(entries, lets, condition, path)


def _parse_lets(value: Any, path: FieldPath, fail: Fail) -> list[tuple[str, Bare]]:
    if not isinstance(value, dict):
        fail(path, "`$let` is a map of names to expressions", "")
        return []
    for name in value:
        if not is_name(name):
            fail((*path, name), f"{name!r} cannot be a name: letters, digits and `_`, and no word of expressions", "")
    return [(name, _bare(part, (*path, name), fail)) for name, part in value.items() if is_name(name)]


def _bare(value: Any, path: FieldPath, fail: Fail) -> Bare:
    if not isinstance(value, str | int | float):
        fail(path, "expected an expression", "")
        return Bare("none", path)
    return Bare(str(value), path)


def _parse_item(value: Any, path: FieldPath, fail: Fail) -> Item:
    if not isinstance(value, dict) or not ({"$for", "$value"} & value.keys()):
        return Item(parse_shape(value, path, fail), None, None, path)
    loop = _parse_loop(value["$for"], (*path, "$for"), fail) if "$for" in value else None
    condition = _bare(value["$if"], (*path, "$if"), fail) if "$if" in value else None
    rest = {key: entry for key, entry in value.items() if key not in ("$for", "$if")}
    if "$value" in rest:
        for key in rest:
            if key != "$value":
                fail((*path, key), "an item with `$value` has no other keys than `$for` and `$if`", "")
        return Item(parse_shape(rest["$value"], (*path, "$value"), fail), loop, condition, path)
    return Item(parse_shape(rest, path, fail), loop, condition, path)


def _parse_loop(text: Any, path: FieldPath, fail: Fail) -> tuple[str, Bare] | None:
    found = _LOOP.fullmatch(text) if isinstance(text, str) else None
    if found is None or not is_name(found[1]):
        fail(path, "`$for` reads `name in expression`", "")
        return None
    return found[1], Bare(found[2], path)


def _unknown_key(key: str, known: dict[str, str], path: FieldPath, fail: Fail) -> None:
    from grove_compiler.graph.nearest import nearest

    fail(path, f"unknown template key {key!r}; there are {', '.join(sorted(known))}", nearest(key, known))


def is_fixed(shape: Shape) -> bool:
    """Whether the value is the same for every object, so that all may share it."""
    if isinstance(shape, MapShape):
        plain = not shape.lets and shape.condition is None
        return plain and all(isinstance(e, Field) and isinstance(e.key, Literal) and is_fixed(e.value) for e in shape.entries)
    if isinstance(shape, ListShape):
        return all(item.loop is None and item.condition is None and is_fixed(item.value) for item in shape.items)
    return isinstance(shape, Literal)


def fixed_value(shape: Shape) -> Any:
    """The value of a shape that `is_fixed`."""
    if isinstance(shape, MapShape):
        return {
            entry.key.value: fixed_value(entry.value)
            for entry in shape.entries
            if isinstance(entry, Field) and isinstance(entry.key, Literal)
        }
    if isinstance(shape, ListShape):
        return [fixed_value(item.value) for item in shape.items]
    return shape.value if isinstance(shape, Literal) else None
