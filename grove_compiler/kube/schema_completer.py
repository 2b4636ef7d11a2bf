"""Validates and defaults a value in one walk, if it is valid, as nearly every input is; this takes a quarter of the time.

A value is sound if `structure.check` finds nothing; the result is then that of `defaults.apply_defaults`. Any other value is left to those
two, which report what is wrong. Schemas are compiled to functions when a value first has their fields.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.structure import Definitions, Schema, check
from grove_compiler.kube.structure_findings import MAX_ITEMS

Walk = Callable[[Any], Any]
"""Returns a value with its defaults, the same object where it lacks none. Raises `_Unsure`. A class accepts its own instances."""


class _Unsure(Exception):
    """Signals that a value may be invalid."""


class SchemaCompleter:
    """Completes valid values by the schemas of the definitions, none of which may be recursive."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._named: dict[str, Walk] = {}

    def completed(self, value: Any, name: str) -> Any:
        """Returns a value of the definition `name` with its defaults, sharing unchanged parts; None unless it is certainly valid."""
        try:
            return self.named(name)(value)
        except _Unsure:
            return None

    def named(self, name: str) -> Walk:
        """Returns the walk of a definition, compiled on first use."""
        walk = self._named.get(name)
        if walk is None:
            walk = self._named[name] = self.walk(self.definitions[name])
        return walk

    def walk(self, schema: Schema) -> Walk:
        """Compiles the walk of a schema."""
        if "ref" in schema:
            return self.named(schema["ref"])
        kind = schema["kind"]
        if kind == "object":
            return self._object(schema)
        if kind == "list":
            bounds = schema.get("min_items", 0), min(schema.get("max_items", MAX_ITEMS), MAX_ITEMS)
            return partial(_list, self.walk(schema["items"]), *bounds, self._identity(schema))
        if kind == "map":
            return partial(_object, _Values(self.walk(schema["values"]) if "values" in schema else _kept), {}, ())
        if kind == "any":
            return _same
        return self._scalar(schema)

    def _object(self, schema: Schema) -> Walk:
        fields = schema["fields"]
        defaults = {name: apply_defaults(field["default"], field, self.definitions) for name, field in fields.items() if "default" in field}
        return partial(_object, _Fields(self, schema), defaults, tuple(schema.get("required", ())))

    def _scalar(self, schema: Schema) -> Walk:
        kind, limits = schema["kind"], schema.keys() - {"kind", "doc", "default", "open"}
        if kind == "boolean" or (kind == "string" and not limits):
            return bool if kind == "boolean" else str
        if kind == "string" and limits == {"enum"}:
            return partial(_word, frozenset(schema["enum"]))
        if kind == "integer":
            limit = 2 ** (schema.get("bits", 64) - 1)
            return partial(_integer, schema.get("minimum", -limit), schema.get("maximum", limit - 1))
        return partial(_scalar, schema)

    def _identity(self, schema: Schema) -> dict[str, Any] | None:
        """Returns the keys that identify list items, with defaults; empty where the item itself does; None where items may be equal."""
        if "set" in schema:
            return {}
        if "keys" not in schema:
            return None
        items = schema["items"]
        while "ref" in items:
            items = self.definitions[items["ref"]]
        return {key: items.get("fields", {}).get(key, {}).get("default") for key in schema["keys"]}


class _Fields(dict[str, Walk]):
    """Maps each field of an object to its walk, compiled when a value first has that field."""

    __slots__ = ("_fields", "_keeps_others", "_of")

    def __init__(self, of: SchemaCompleter, schema: Schema) -> None:
        super().__init__()
        self._of, self._fields, self._keeps_others = of, schema["fields"], schema.get("unknown") == "keep"

    def __missing__(self, name: str) -> Walk:
        if name in self._fields:
            walk = self[name] = self._of.walk(self._fields[name])
            return walk
        if self._keeps_others:
            return _kept
        raise _Unsure


class _Values(dict[str, Walk]):
    """Maps every key to the same walk. It stays empty, since users may write any number of keys."""

    __slots__ = ("_walk",)

    def __init__(self, walk: Walk) -> None:
        super().__init__()
        self._walk = walk

    def __missing__(self, name: Any) -> Walk:
        if name.__class__ is not str:
            raise _Unsure
        return self._walk


def _object(fields: _Fields | _Values, defaults: dict[str, Any], required: tuple[str, ...], value: Any) -> Any:
    if value.__class__ is not dict or len(value) > MAX_ITEMS:
        raise _Unsure
    result = value
    for name, item in value.items():
        walk = fields[name]
        if item.__class__ is walk:
            continue
        if item is None:
            if name not in defaults and walk is not _kept:
                result = value.copy() if result is value else result
                del result[name]
            continue
        if walk.__class__ is type:
            raise _Unsure
        changed = walk(item)
        if changed is not item:
            result = value.copy() if result is value else result
            result[name] = changed
    for name in required:
        if value.get(name) is None:
            raise _Unsure
    for name, default in defaults.items():
        if value.get(name) is None:
            result = value.copy() if result is value else result
            result[name] = default
    return result


def _list(walk: Walk, least: int, most: int, identity: dict[str, Any] | None, value: Any) -> Any:
    if value.__class__ is not list or not least <= len(value) <= most:
        raise _Unsure
    result = value
    for index, item in enumerate(value):
        if item.__class__ is walk:
            continue
        if item is None or walk.__class__ is type:
            raise _Unsure
        changed = walk(item)
        if changed is not item:
            result = value.copy() if result is value else result
            result[index] = changed
    if identity is not None and len(value) > 1 and not _differ(value, identity):
        raise _Unsure
    return result


def _differ(items: list[Any], identity: dict[str, Any]) -> bool:
    """Reports whether all items differ in what identifies them; false where that cannot be compared."""
    try:
        if not identity:
            return len(set(items)) == len(items)
        if len(identity) == 1:
            ((key, default),) = identity.items()
            return len({default if (found := item.get(key)) is None else found for item in items}) == len(items)
        keys = {tuple([default if (found := item.get(key)) is None else found for key, default in identity.items()]) for item in items}
        return len(keys) == len(items)
    except TypeError:  # a key holds no scalar
        return False


def _word(words: frozenset[str], value: Any) -> Any:
    if value.__class__ is not str or value not in words:
        raise _Unsure
    return value


def _integer(least: int, most: int, value: Any) -> Any:
    if value.__class__ is not int or not least <= value <= most:
        raise _Unsure
    return value


def _scalar(schema: Schema, value: Any) -> Any:
    if check(value, schema, {}):
        raise _Unsure
    return value


def _same(value: Any) -> Any:
    return value


def _kept(value: Any) -> Any:
    return value
