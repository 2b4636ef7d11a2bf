"""Resolves the parts that templates include and the constants that they name, before Python is generated.

So they cost nothing when rules run: the result is a template in which they are written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions.expression_syntax import ExpressionError, parse_text
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Template
from grove_compiler.engine.language.template_ast import (
    Entry,
    Field,
    Include,
    ListItem,
    ListNode,
    Literal,
    MapNode,
    TemplateNode,
    Text,
    parse_template,
)
from grove_compiler.engine.runtime.access import as_text
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.record import record


@record
class Resolver:
    """Parses templates, with the parts that they include, and replaces names of constants by their values."""

    templates: Mapping[str, Template]
    constants: Mapping[str, Any]
    _open: list[str] = field(default_factory=list)

    def parse(self, value: Any, at: SourceLocation, path: FieldPath | None = None) -> TemplateNode:
        """Parses a value of a document into a tree. A wrong include is reported at its place and becomes an empty map."""
        return self._node(parse_template(value, at, path))

    def _node(self, node: TemplateNode) -> TemplateNode:
        if isinstance(node, Include):
            return self._part(node) or MapNode([], [], None, node.path, node.at)
        if isinstance(node, MapNode):
            return replace(node, entries=[inner for entry in node.entries for inner in self._entries(entry)])
        if isinstance(node, ListNode):
            return replace(node, items=[inner for item in node.items for inner in self._items(item)])
        return self._folded(node) if isinstance(node, Text) else node

    def _entries(self, entry: Entry) -> list[Entry]:
        """Resolves an entry of a map; an include becomes the entries of its part."""
        if isinstance(entry, Field):
            key = self._folded(entry.key) if isinstance(entry.key, Text) else entry.key
            return [replace(entry, key=key if isinstance(key, Literal | Text) else entry.key, value=self._node(entry.value))]
        if not isinstance(entry, Include):
            return [entry]
        part = self._part(entry)
        if isinstance(part, ListNode):
            entry.at.fail(f"the part {entry.name!r} is a list, which has no place among the entries of a map")
        return part.entries if isinstance(part, MapNode) else []

    def _items(self, item: ListItem) -> list[ListItem]:
        """Resolves an item of a list; an include becomes the items of its part."""
        value = self._node(item.value)
        if not isinstance(item.value, Include) or not isinstance(value, ListNode):
            return [replace(item, value=value)]
        return value.items if item.loop is None and item.condition is None else [replace(item, value=value, spreads=True)]

    def _part(self, include: Include) -> MapNode | ListNode | None:
        """Returns the tree of an included part; reports a wrong include (unknown, no part, a cycle) and returns None."""
        parts = [name for name, template in self.templates.items() if template.is_part]
        template = self.templates.get(include.name)
        if template is None or not template.is_part:
            label = "is not below templates/parts/, so it cannot be included" if template else "does not exist"
            include.at.fail(f"the part {include.name!r} {label}", nearest(include.name, parts))
        elif include.name in self._open:
            cycle = [*self._open[self._open.index(include.name) :], include.name]
            include.at.fail("parts that include each other: " + " includes ".join(cycle))
        elif template.usable:
            self._open.append(include.name)
            part = self.parse(template.value, SourceLocation(template.source, (), include.at), include.path)
            self._open.pop()
            return part if isinstance(part, MapNode | ListNode) else None
        return None

    def _folded(self, node: Text) -> TemplateNode:
        """Replaces text whose expressions are all names of constants by its value; returns any other text unchanged."""
        try:
            parts = parse_text(node.text) if self.constants else []
        except ExpressionError:
            return node  # reported when it is written
        values = [self._value(part) for part in parts]
        if not values or any(value is _VARIES for value in values):
            return node
        if len(values) == 1:
            return _fixed(values[0], node.path, node.at)
        if any(value is None for value in values):
            return node  # reported when it is written
        return Literal("".join(map(as_text, values)), node.path, node.at)

    def _value(self, part: nodes.Node) -> Any:
        if isinstance(part, nodes.TemplateData):
            return part.data
        return self.constants.get(part.name, _VARIES) if isinstance(part, nodes.Name) else _VARIES


_VARIES = object()


def _fixed(value: Any, path: FieldPath, at: SourceLocation) -> TemplateNode:
    """Returns the tree of a constant's value."""
    if isinstance(value, dict):
        entries: list[Entry] = [
            Field(Literal(key, path, at), _fixed(part, (*path, key), at), (*path, key), at) for key, part in value.items()
        ]
        return MapNode(entries, [], None, path, at)
    if isinstance(value, list):
        return ListNode([ListItem(_fixed(part, (*path, number), at), None, None, path, at) for number, part in enumerate(value)], path, at)
    return Literal(value, path, at)
