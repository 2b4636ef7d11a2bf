"""The models as structural tables (`grove_compiler.kube.structure`), from which CRDs and what `compile` checks by are made."""

from __future__ import annotations

from typing import Any, get_args

from grove_compiler.api.clustertopology import ClusterTopology
from grove_compiler.api.clustertopologybinding import ClusterTopologyBinding
from grove_compiler.api.kube import Kube
from grove_compiler.api.metadata import KubernetesObject
from grove_compiler.api.operatorconfiguration import OperatorConfiguration
from grove_compiler.api.podclique import PodClique
from grove_compiler.api.podcliquescalinggroup import PodCliqueScalingGroup
from grove_compiler.api.podcliqueset import PodCliqueSetObject
from grove_compiler.api.podgang import PodGang
from grove_compiler.api.preflightvalues import PreflightValues
from grove_compiler.kube.structure import Definitions, Schema

STORED: tuple[type[KubernetesObject], ...] = (
    PodCliqueSetObject,
    PodClique,
    PodCliqueScalingGroup,
    ClusterTopologyBinding,
    ClusterTopology,
    PodGang,
)
"""The kinds that an API server stores."""
KINDS: tuple[type[Kube], ...] = (*STORED, OperatorConfiguration)

VALUES: tuple[type[Kube], ...] = (PreflightValues,)
"""Helm values that the program reads: structures without a kind."""

_INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}
_RENAMED = {"pattern": "pattern", "minLength": "min_length", "maxLength": "max_length"}


def tables(model: type[Kube]) -> tuple[Schema, Definitions]:
    """Returns the model's structure, and those of the types it refers to by name.

    Besides the checker's keys, nodes have `default`, `doc` (the description) and `validations` (CEL rules as CRDs hold them).
    """
    document = model.model_json_schema()
    types: dict[str, Any] = document.pop("$defs", {})
    definitions = {schema["definition"]: _object(schema, types) for schema in types.values()}
    return _object(document, types), definitions


def key(model: type[Kube]) -> tuple[str, str]:
    """Returns the apiVersion and kind that the model is for."""
    fields = model.model_fields
    (api_version,), (kind,) = get_args(fields["api_version"].annotation), get_args(fields["kind"].annotation)
    return api_version, kind


def documents() -> dict[str, Definitions]:
    """Returns the tables in `grove_compiler/kube/schemas` that are made from the models, by group and version.

    Left out of them is all that only CRDs need.
    """
    result: dict[str, Definitions] = {}
    named = {".".join(key(model)): model for model in KINDS} | {f"{model.package}.{model.__name__}": model for model in VALUES}
    for name_of_model, model in named.items():
        schema, definitions = tables(model)
        for name, definition in {name_of_model: schema, **definitions}.items():
            group, _, type_ = name.rpartition(".")
            result.setdefault(group, {})[type_] = _bare(definition)
    return result


def _bare(value: Any) -> Any:
    """Returns a copy without descriptions and CEL rules. Fields of such names are safe: they stand one level down, under `fields`."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    node = isinstance(value.get("kind", value.get("ref")), str)
    return {name: _bare(item) for name, item in value.items() if not (node and name in ("doc", "validations"))}


def _node(schema: dict[str, Any], types: dict[str, Any]) -> Schema:
    """Returns the structure of one field, item or value."""
    if "anyOf" in schema:
        (present,) = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
        schema = {**present, **{name: value for name, value in schema.items() if name != "anyOf"}}
    keys: dict[str, Any] = dict(schema.get("structure", {}))
    node: Schema = keys if "kind" in keys or "ref" in keys else {**_shape(schema, types), **keys}
    if schema.get("default") is not None:
        node["default"] = schema["default"]
    if "description" in schema:
        node["doc"] = " ".join(schema["description"].split())
    return node


def _shape(schema: dict[str, Any], types: dict[str, Any]) -> Schema:
    if "$ref" in schema:
        return {"ref": types[schema["$ref"].rpartition("/")[2]]["definition"]}
    match schema.get("type"):
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return {"kind": "map", "values": _node(schema["additionalProperties"], types)}
        case "object":
            return {"kind": "map"}
        case "array":
            sizes = {name: schema[bound] for name, bound in (("min_items", "minItems"), ("max_items", "maxItems")) if bound in schema}
            return {"kind": "list", "items": _node(schema["items"], types), **sizes}
        case "string":
            return _string(schema)
        case "integer" | "number" as kind:
            return {"kind": kind, **_bounds(schema)}
        case "boolean":
            return {"kind": "boolean"}
    raise TypeError(f"no structure for {schema}")


def _string(schema: dict[str, Any]) -> Schema:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    limits = {name: schema[keyword] for keyword, name in _RENAMED.items() if keyword in schema}
    return {"kind": "string", **({"enum": choices} if choices else {}), **limits}


def _bounds(schema: dict[str, Any]) -> Schema:
    """Returns the bounds that are narrower than those of the 32 bits, which `bits` says already."""
    bounds: Schema = {name: schema[name] for name in ("minimum", "maximum") if name in schema and schema[name] != _INT32[name]}
    if "exclusiveMinimum" in schema:
        bounds["minimum"] = schema["exclusiveMinimum"] + 1
    return bounds


def _object(schema: dict[str, Any], types: dict[str, Any]) -> Schema:
    """Returns the structure of a model. Unknown fields are warnings where the model lets them pass."""
    node: Schema = {"kind": "object", "fields": {name: _node(field, types) for name, field in schema["properties"].items()}}
    if schema.get("required"):
        node["required"] = list(schema["required"])
    if schema.get("additionalProperties") is not False:
        node["unknown"] = "warning"
    if "validations" in schema:
        node["validations"] = schema["validations"]
    node["doc"] = " ".join(schema["description"].split())
    return node
