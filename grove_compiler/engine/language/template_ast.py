"""Parses templates, and values with template keys, into a tree: structured YAML with expressions in it."""

from __future__ import annotations

import re
from typing import Any

from grove_compiler.engine.language.keys import ITEM_KEYS, MAP_KEYS, is_name
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.record import record

_LOOP = re.compile(r"\s*(\w+)\s+in\s+(.*\S)\s*", re.DOTALL)


@record
class Literal:
    """Represents a scalar without expressions. In every node, `path` is its place in the rendered object, `at` where it is written."""

    value: Any
    path: FieldPath
    at: SourceLocation


@record
class Text:
    """Represents a scalar with `{{ }}` in it."""

    text: str
    path: FieldPath
    at: SourceLocation


@record
class Expression:
    """Represents an expression without braces, as in `$merge`. `label` is shown instead of `text` where the engine made the text."""

    text: str
    path: FieldPath
    at: SourceLocation
    label: str = ""


@record
class Include:
    """Stands for an included part, by its name."""

    name: str
    path: FieldPath
    at: SourceLocation


@record
class Field:
    """Represents a field of a map; the key may hold expressions."""

    key: Literal | Text
    value: TemplateNode
    path: FieldPath
    at: SourceLocation


Entry = Field | Expression | Include
"""What a map is made of: fields, merges, and parts that bring more of both."""


@record
class MapNode:
    """Represents a map: the names that `$let` binds, the condition of `$if`, and entries in the order in which they are written."""

    entries: list[Entry]
    lets: list[tuple[str, Expression]]
    condition: Expression | None
    path: FieldPath
    at: SourceLocation


@record
class ListItem:
    """Represents a list item, repeated by `$for` and guarded by `$if`. If it `spreads`, its value is a list whose items are inserted."""

    value: TemplateNode
    loop: tuple[str, Expression] | None
    condition: Expression | None
    path: FieldPath
    at: SourceLocation
    spreads: bool = False


@record
class ListNode:
    """Represents a list."""

    items: list[ListItem]
    path: FieldPath
    at: SourceLocation


TemplateNode = Literal | Text | Expression | Include | MapNode | ListNode


def parse_template(value: Any, at: SourceLocation, path: FieldPath | None = None) -> TemplateNode:
    """Parses a value of a document into a tree. Mistakes in `$` keys are reported; the rest is parsed all the same.

    `path` is its place in the rendered object, if that differs from its place in the document.
    """
    path = at.path if path is None else path
    if isinstance(value, dict):
        is_part = value.keys() == {"$include"} and not isinstance(value["$include"], list)
        return Include(str(value["$include"]), path, at.below("$include")) if is_part else _parse_map(value, path, at)
    if isinstance(value, list):
        return ListNode([_parse_item(item, (*path, index), at.below(index)) for index, item in enumerate(value)], path, at)
    return _parse_scalar(value, path, at)


def _parse_scalar(value: Any, path: FieldPath, at: SourceLocation) -> Literal | Text:
    return Text(value, path, at) if isinstance(value, str) and "{{" in value else Literal(value, path, at)


def _parse_map(value: dict[str, Any], path: FieldPath, at: SourceLocation) -> MapNode:
    entries: list[Entry] = []
    lets: list[tuple[str, Expression]] = []
    condition: Expression | None = None
    for key, entry in value.items():
        here, there = (*path, key), at.below(key)
        if key == "$merge":
            entries += [_expression(part, here, there) for part in (entry if isinstance(entry, list) else [entry])]
        elif key == "$include":
            entries += [Include(str(part), path, there) for part in (entry if isinstance(entry, list) else [entry])]
        elif key == "$if":
            condition = _expression(entry, here, there)
        elif key == "$let":
            lets = _parse_lets(entry, here, there)
        elif key in ITEM_KEYS:
            there.fail(f"`{key}` has a meaning only in a list's item")
        elif key.startswith("$") and not key.startswith("${"):
            known = {**MAP_KEYS, **ITEM_KEYS}
            there.fail(f"unknown template key {key!r}; there are {', '.join(sorted(known))}", nearest(key, known))
        else:
            entries.append(Field(_parse_scalar(key, here, there), parse_template(entry, there, here), here, there))
    return MapNode(entries, lets, condition, path, at)


def _parse_lets(value: Any, path: FieldPath, at: SourceLocation) -> list[tuple[str, Expression]]:
    if not isinstance(value, dict):
        at.fail("`$let` is a map of names to expressions")
        return []
    for name in value:
        if not is_name(name):
            at.below(name).fail(f"{name!r} cannot be a name: letters, digits and `_`, and no word of expressions")
    return [(name, _expression(part, (*path, name), at.below(name))) for name, part in value.items() if is_name(name)]


def _expression(value: Any, path: FieldPath, at: SourceLocation) -> Expression:
    if not isinstance(value, str | int | float):
        at.fail("expected an expression")
        return Expression("none", path, at)
    return Expression(str(value), path, at)


def _parse_item(value: Any, path: FieldPath, at: SourceLocation) -> ListItem:
    is_item = isinstance(value, dict) and ({"$for", "$value"} & value.keys() or value.keys() == {"$if", "$include"})
    if not is_item:
        return ListItem(parse_template(value, at, path), None, None, path, at)
    loop = _parse_loop(value["$for"], (*path, "$for"), at.below("$for")) if "$for" in value else None
    condition = _expression(value["$if"], (*path, "$if"), at.below("$if")) if "$if" in value else None
    rest = {key: entry for key, entry in value.items() if key not in ("$for", "$if")}
    if "$value" in rest:
        for key in rest:
            if key != "$value":
                at.below(key).fail("an item with `$value` has no other keys than `$for` and `$if`")
        return ListItem(parse_template(rest["$value"], at.below("$value"), (*path, "$value")), loop, condition, path, at)
    return ListItem(parse_template(rest, at, path), loop, condition, path, at)


def _parse_loop(text: Any, path: FieldPath, at: SourceLocation) -> tuple[str, Expression] | None:
    parts = _LOOP.fullmatch(text) if isinstance(text, str) else None
    if parts is None or not is_name(parts[1]):
        at.fail("`$for` reads `name in expression`")
        return None
    return parts[1], Expression(parts[2], path, at)


def is_fixed(node: TemplateNode) -> bool:
    """Reports whether a node's value is the same for every object, so that all may share it."""
    if isinstance(node, MapNode):
        plain = not node.lets and node.condition is None
        return plain and all(isinstance(e, Field) and isinstance(e.key, Literal) and is_fixed(e.value) for e in node.entries)
    if isinstance(node, ListNode):
        return all(item.loop is None and item.condition is None and is_fixed(item.value) for item in node.items)
    return isinstance(node, Literal)


def fixed_value(node: TemplateNode) -> Any:
    """Returns the value of a node for which `is_fixed` holds."""
    if isinstance(node, MapNode):
        fields = [entry for entry in node.entries if isinstance(entry, Field)]
        return {entry.key.value: fixed_value(entry.value) for entry in fields if isinstance(entry.key, Literal)}
    if isinstance(node, ListNode):
        return [fixed_value(item.value) for item in node.items]
    return node.value if isinstance(node, Literal) else None
