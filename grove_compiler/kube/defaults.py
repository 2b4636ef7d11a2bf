"""Applies schema defaults, as the API server does for the structural schema of a CustomResourceDefinition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.kube.structure import Definitions, Schema


def apply_defaults(value: Any, schema: Schema, definitions: Definitions) -> Any:
    """Returns `value` with every `default` of its schema whose field is absent or null, where the object around it exists.

    A null without a default is dropped from objects and from maps whose values have a schema, and stays in lists: no field here
    is nullable. Defaults have their own defaults applied. Nothing is changed in place; what needs no change is shared, and the
    result `is` the value when nothing does. Values of a wrong type are left to the structural check.
    """
    while "ref" in schema:
        schema = definitions[schema["ref"]]
    kind = schema["kind"]
    if isinstance(value, dict):
        if kind == "object":
            return _object(value, schema["fields"], definitions)
        if kind == "map" and "values" in schema:
            return _entries(value, lambda _: schema["values"], definitions)
    elif kind == "list" and isinstance(value, list):
        return _list(value, schema["items"], definitions)
    return value


def _object(value: dict[str, Any], fields: dict[str, Schema], definitions: Definitions) -> dict[str, Any]:
    result = _entries(value, fields.get, definitions)
    for name, field in fields.items():
        if "default" in field and value.get(name) is None:
            result = _with(result, value, name, apply_defaults(field["default"], field, definitions))
    return result


def _entries(value: dict[str, Any], field_of: Callable[[str], Schema | None], definitions: Definitions) -> dict[str, Any]:
    """Returns an object or a map with the defaults of what is in its entries, and without nulls that no default replaces."""
    result = value
    for name, item in value.items():
        field = field_of(name)
        if field is None:
            continue
        if item is None:
            if "default" not in field:
                result = result.copy() if result is value else result
                del result[name]
        elif isinstance(item, dict | list):
            changed = apply_defaults(item, field, definitions)
            if changed is not item:
                result = _with(result, value, name, changed)
    return result


def _list(value: list[Any], items: Schema, definitions: Definitions) -> list[Any]:
    result = value
    for index, item in enumerate(value):
        if isinstance(item, dict | list):
            changed = apply_defaults(item, items, definitions)
            if changed is not item:
                if result is value:
                    result = value.copy()
                result[index] = changed
    return result


def _with(result: dict[str, Any], original: dict[str, Any], name: str, item: Any) -> dict[str, Any]:
    """Returns the result with one more change; it is copied from the original at the first."""
    if result is original:
        result = original.copy()
    result[name] = item
    return result
