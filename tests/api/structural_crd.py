"""What makes a CRD's schema structural, as an API server checks it before it accepts a CustomResourceDefinition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
KNOWN = {
    *("type", "format", "description", "properties", "additionalProperties", "items", "required", "enum", "pattern", "default"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "anyOf"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations"),
    *(INT_OR_STRING, PRESERVE),
}


def schema_of(crd: dict[str, Any]) -> dict[str, Any]:
    (version,) = crd["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas below and including this one, with their paths: `.spec.template.cliques[].name`, `{}` for values of maps."""
    yield path, schema
    for name, field in schema.get("properties", {}).items():
        yield from nodes(field, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


def faults(schema: dict[str, Any]) -> list[str]:
    """Why the API server would refuse the schema, one line a reason."""
    return [f"{path or '.'}: {fault}" for path, node in nodes(schema) for fault in _faults(path, node)]


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """Whether a value is valid against a schema without lists' uniqueness and CEL."""
    if schema.get(INT_OR_STRING):
        return isinstance(value, int | str) and not isinstance(value, bool)
    if "type" not in schema:
        return True
    if not isinstance(value, TYPES[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean"):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        more = schema.get("additionalProperties", {} if schema.get(PRESERVE) else None)
        complete = all(name in value for name in schema.get("required", []))
        return complete and all(
            accepts(known.get(name, more), item) if name in known or more is not None else False for name, item in value.items()
        )
    if isinstance(value, list):
        return all(accepts(schema["items"], item) for item in value)
    return value in schema.get("enum", [value]) and _within(schema, value)


def _within(schema: dict[str, Any], value: Any) -> bool:
    if isinstance(value, str):
        fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        return fits and re.search(schema.get("pattern", ""), value) is not None
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _faults(path: str, node: dict[str, Any]) -> Iterator[str]:
    for keyword in node.keys() - KNOWN:
        yield f"{keyword} is not allowed"
    if node.get(INT_OR_STRING):
        if "type" in node or node.get("anyOf") != [{"type": "integer"}, {"type": "string"}]:
            yield "int-or-string has anyOf and no type"
    elif "anyOf" in node:
        yield "anyOf only for int-or-string"
    elif node.get("type") not in TYPES and not node.get(PRESERVE):
        yield "no type"
    if (node.get("type") == "array") != ("items" in node):
        yield "arrays, and only they, have items"
    if "properties" in node and "additionalProperties" in node:
        yield "properties and additionalProperties exclude each other"
    if ("properties" in node or "additionalProperties" in node or "required" in node) and node.get("type") != "object":
        yield "fields in something that is no object"
    for name in set(node.get("required", [])) - node.get("properties", {}).keys():
        yield f"required {name} is no property"
    if "default" in node and not accepts(node, node["default"]):
        yield f"default {node['default']!r} is not valid"
    yield from _list_faults(node)
    yield from _rule_faults(node)
    if path == ".metadata" and node.keys() - {"type"}:
        yield "metadata is the API server's"


def _list_faults(node: dict[str, Any]) -> Iterator[str]:
    kind = node.get("x-kubernetes-list-type")
    if kind is not None and (node.get("type") != "array" or kind not in ("atomic", "set", "map")):
        yield f"list type {kind}"
    if (kind == "map") != ("x-kubernetes-list-map-keys" in node):
        yield "list-maps, and only they, have keys"
    for key in node.get("x-kubernetes-list-map-keys", []):
        item = node["items"].get("properties", {}).get(key)
        if item is None or item.get("type") not in ("string", "integer", "boolean"):
            yield f"key {key} is no scalar property"
        elif key not in node["items"].get("required", []) and "default" not in item:
            yield f"key {key} is neither required nor defaulted"


def _rule_faults(node: dict[str, Any]) -> Iterator[str]:
    for rule in node.get("x-kubernetes-validations", []):
        if not rule.get("rule") or not rule.get("message") or "\n" in rule["message"]:
            yield "a rule has an expression and a message of one line"
        if "oldSelf.hasValue" in rule["rule"] and not rule.get("optionalOldSelf"):
            yield "oldSelf is not optional"
        at = node
        for step in rule.get("fieldPath", "").split(".")[1:]:
            at = at.get("properties", {}).get(step)
            if at is None:
                yield f"fieldPath {rule['fieldPath']} leads nowhere"
                break
