"""Structural tables as OpenAPI v3 schemas that a CustomResourceDefinition can hold: no references, every node typed.

Where the table makes an unknown field a warning, the API server keeps it: a pod template is passed through untouched, so a new
Kubernetes field never needs a new CRD. An `open` enum is none, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from grove_compiler.kube.structure import Definitions, Schema

OpenApi = dict[str, Any]

QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
DURATION = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"


def openapi(schema: Schema, definitions: Definitions) -> OpenApi:
    """Returns the schema with all references resolved, as a value of its own. KeyError for a reference to nothing.

    Tables do not refer to themselves, so the result is finite.
    """
    while "ref" in schema:
        schema = definitions[schema["ref"]] | {name: value for name, value in schema.items() if name != "ref"}
    node: OpenApi = {"description": schema["doc"]} if "doc" in schema else {}
    node |= _KINDS[schema["kind"]](schema, definitions)
    if "default" in schema:
        node["default"] = deepcopy(schema["default"])
    if "validations" in schema:
        node["x-kubernetes-validations"] = deepcopy(schema["validations"])
    if "atomic" in schema and schema["kind"] == "object":
        node["x-kubernetes-map-type"] = "atomic"
    return node


def _object(schema: Schema, definitions: Definitions) -> OpenApi:
    node: OpenApi = {"type": "object"}
    node["properties"] = {name: openapi(field, definitions) for name, field in schema["fields"].items()}
    if schema.get("required"):
        node["required"] = list(schema["required"])
    if schema.get("unknown", "error") != "error":
        node["x-kubernetes-preserve-unknown-fields"] = True
    return node


def _map(schema: Schema, definitions: Definitions) -> OpenApi:
    if "values" in schema:
        return {"type": "object", "additionalProperties": openapi(schema["values"], definitions)}
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _list(schema: Schema, definitions: Definitions) -> OpenApi:
    node: OpenApi = {"type": "array", "items": openapi(schema["items"], definitions)}
    node |= _renamed(schema, min_items="minItems", max_items="maxItems")
    if "keys" in schema and "doubles" not in schema:
        node |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(schema["keys"])}
    elif "set" in schema:
        node["x-kubernetes-list-type"] = "set"
    elif "atomic" in schema or "doubles" in schema:
        node["x-kubernetes-list-type"] = "atomic"
    return node


def _string(schema: Schema, _definitions: Definitions) -> OpenApi:
    node: OpenApi = {"type": "string"}
    if "enum" in schema and not schema.get("open"):
        node["enum"] = list(schema["enum"])
    return node | _renamed(schema, pattern="pattern", min_length="minLength", max_length="maxLength")


def _integer(schema: Schema, _definitions: Definitions) -> OpenApi:
    node: OpenApi = {"type": "integer", "format": f"int{schema.get('bits', 64)}"}
    return node | _renamed(schema, minimum="minimum", maximum="maximum")


def _number(schema: Schema, _definitions: Definitions) -> OpenApi:
    return {"type": "number"} | _renamed(schema, minimum="minimum", maximum="maximum")


def _fixed(node: OpenApi) -> Callable[[Schema, Definitions], OpenApi]:
    return lambda _schema, _definitions: deepcopy(node)


def _renamed(schema: Schema, **names: str) -> OpenApi:
    return {there: schema[here] for here, there in names.items() if here in schema}


_INT_OR_STRING: OpenApi = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}

_KINDS: dict[str, Callable[[Schema, Definitions], OpenApi]] = {
    "object": _object,
    "map": _map,
    "list": _list,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _fixed({"type": "boolean"}),
    "quantity": _fixed({**_INT_OR_STRING, "pattern": QUANTITY}),
    "int-or-string": _fixed(_INT_OR_STRING),
    "duration": _fixed({"type": "string", "pattern": DURATION}),
    "time": _fixed({"type": "string", "format": "date-time"}),
    "any": _fixed({"x-kubernetes-preserve-unknown-fields": True}),
}
