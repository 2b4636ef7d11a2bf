"""Generates the schemas of Kubernetes' own kinds from a real API server: `python -m tools.generate_kubernetes_schemas`.

The server is the control plane of `applier.testing`, which publishes in `/openapi/v3` the schemas that it validates objects against. The
tables in `grove_compiler/kube/schemas` are of its version; for those of another version, build that control plane.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane

FOLDER = Path(__file__).parent.parent / "grove_compiler" / "kube" / "schemas"
GROUPS = (
    "api/v1",
    "apis/apps/v1",
    "apis/autoscaling/v2",
    "apis/batch/v1",
    "apis/networking.k8s.io/v1",
    "apis/policy/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/resource.k8s.io/v1",
    "apis/resource.k8s.io/v1beta1",
    "apis/resource.k8s.io/v1beta2",
    "apis/scheduling.k8s.io/v1",
)
"""The groups of the kinds that a set is compiled to or refers to, and that users' rules generate."""

DOUBLES = {("Container", "env"), ("Container", "ports"), ("PodSpec", "hostAliases"), ("PodSpec", "imagePullSecrets")}
DOUBLES |= {("EphemeralContainer", field) for field in ("env", "ports")}
"""Lists with merge keys in which the server accepts items with the same key."""

GATED = {("Lifecycle", "stopSignal"), ("DeviceToleration", "effect"), ("DeviceToleration", "operator")}
"""Fields with an enum that a server drops without validation, unless a feature gate is enabled that is off by default."""

Json = dict[str, Any]

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
LEAVES: dict[str, Json] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"kind": "quantity"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"kind": "int-or-string"},
    META + "Time": {"kind": "time"},
    META + "MicroTime": {"kind": "time"},
    META + "FieldsV1": {"kind": "any"},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"kind": "map"},
}
"""Types that are scalars in JSON, or whose content has no schema."""


def main() -> None:
    """Reads the schemas from the server, and writes a file per group and version."""
    with ControlPlane.start(parts=()) as plane:
        documents = {path: plane.request("GET", f"/openapi/v3/{path}") for path in GROUPS}
    for group, table in tables(documents).items():
        write(group, table)


def write(group: str, table: dict[str, Json]) -> None:
    """Writes the file of a group and version with one type per line, so that a diff shows which types changed."""
    lines = ",\n".join(f"{json.dumps(type_)}: {json.dumps(table[type_], separators=(',', ':'))}" for type_ in sorted(table))
    (FOLDER / f"{group.replace('/', '_')}.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def tables(documents: dict[str, Json]) -> dict[str, dict[str, Json]]:
    """Returns the types of each group and version (`core/v1`, `apps/v1`) in the format that `kube.structure` reads."""
    result: dict[str, dict[str, Json]] = {}
    for path, document in documents.items():
        schemas = document["components"]["schemas"]
        group_version = path.removeprefix("apis/").replace("api/", "core/")
        waiting = [name for name, schema in schemas.items() if _is_kind(schema, group_version)]
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            place, _, type_ = short(name).rpartition(".")
            below: list[str] = []
            result.setdefault(place, {})[type_] = table = struct(schemas[name], below)
            for field in table["fields"]:
                if (type_, field) in GATED:
                    table["fields"][field] = {name: value for name, value in table["fields"][field].items() if name in ("kind", "default")}
                if (type_, field) in DOUBLES:
                    table["fields"][field]["doubles"] = True
            fresh = [other for other in below if other not in seen]
            seen.update(fresh)
            waiting += fresh
    return result


def _is_kind(schema: Json, group_version: str) -> bool:
    served = [f"{kind['group'] or 'core'}/{kind['version']}" for kind in schema.get("x-kubernetes-group-version-kind", ())]
    return served == [group_version] and _has_metadata(schema)


def _has_metadata(schema: Json) -> bool:
    """Reports whether a kind is one of stored objects, unlike lists and the kinds of requests such as reviews."""
    (metadata,) = schema.get("properties", {}).get("metadata", {}).get("allOf", [{}])
    return str(metadata.get("$ref", "")).endswith(".ObjectMeta")


def short(name: str) -> str:
    """Returns `core/v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`, `meta/v1.ObjectMeta` for apimachinery's."""
    *packages, version, type_ = name.split(".")
    group = {"rbac": "rbac.authorization.k8s.io"}.get(packages[-1], packages[-1])
    if group in ("networking", "resource", "scheduling"):
        group += ".k8s.io"
    return f"{group}/{version}.{type_}"


def struct(schema: Json, below: list[str]) -> Json:
    """Returns the table of an object, and appends the types that it refers to to `below`.

    A status has no schema here, since rules only generate the desired state. Unknown fields are warnings, as the cluster may be newer than
    these tables.
    """
    required = schema.get("required", [])
    fields: Json = {}
    for name, field in schema.get("properties", {}).items():
        node = {"kind": "any"} if name == "status" and "metadata" in schema["properties"] else value(field, below)
        default = field.get("default")
        if default is not None and not _is_moot(default, name in required, node):
            node["default"] = default
        fields[name] = node
    table: Json = {"kind": "object", "fields": fields, "unknown": "warning"}
    if "x-kubernetes-group-version-kind" in schema and _has_metadata(schema):
        required = ["apiVersion", "kind", "metadata", *required]  # without them, the server's error is the same
    if required:
        table["required"] = sorted(required)
    if schema.get("x-kubernetes-map-type") == "atomic":
        table["atomic"] = True
    return table


def _is_moot(default: Any, required: bool, node: Json) -> bool:
    """Reports whether a CRD omits this default: Go's zero value of a required field or struct, or a constant that a marker refers to.

    The CRDs of shipped Grove are generated by controller-gen, which does not support such constants (`+default=ref(AzureSharedBlobDisk)`),
    and the defaults of a set must be the same for both.
    """
    return default == {} or (required and default in ("", 0)) or ("enum" in node and default in ("ReadWrite", "Shared"))


def value(schema: Json, below: list[str]) -> Json:
    """Returns the table of a field, item or map's value."""
    if "allOf" in schema:
        (schema,) = schema["allOf"]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in LEAVES:
            return dict(LEAVES[name])
        below.append(name)
        return {"ref": short(name)}
    kind = schema.get("type")
    if kind == "array":
        return _list(schema, below)
    if kind == "object":
        return (
            {"kind": "map", "values": value(schema["additionalProperties"], below)} if "additionalProperties" in schema else {"kind": "map"}
        )
    if kind == "string":
        # An empty enum value means the default, as an absent one does.
        return {"kind": "string", "enum": sorted({"", *schema["enum"]}), "open": True} if "enum" in schema else {"kind": "string"}
    if kind == "integer":
        return {"kind": "integer", "bits": 32} if schema.get("format") == "int32" else {"kind": "integer"}
    return {"kind": kind or "any"}


def _list(schema: Json, below: list[str]) -> Json:
    table: Json = {"kind": "list", "items": value(schema["items"], below)}
    listed = schema.get("x-kubernetes-list-type")
    if listed == "map":
        table["keys"] = schema["x-kubernetes-list-map-keys"]
    elif listed == "set":
        table["set"] = True
    elif listed == "atomic":
        table["atomic"] = True
    return table


if __name__ == "__main__":
    main()
