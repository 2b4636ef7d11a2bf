"""Converts an OpenAPI v3 document to schema tables, by the rules of kube-openapi's `schemaconv`, which the server itself uses."""

from __future__ import annotations

from typing import Any

from applier.decision.schema import Schemas, TypeTable

_FIXED = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "untyped/quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "untyped/time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "untyped/micro-time",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"s": "untyped", "i": "*untyped", "l": "a", "e": "*untyped", "a": 1},
}
_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}
_GVK = "x-kubernetes-group-version-kind"


def read_openapi(document: dict[str, Any]) -> Schemas:
    """Returns the schemas of one document of `/openapi/v3/…`. Kinds that it does not describe are missing; nothing is raised."""
    models = (document.get("components") or {}).get("schemas") or {}
    with_status = _kinds_with_status(document.get("paths") or {})
    types = {name: _FIXED[name] if name in _FIXED else _Reader(False).atom(model) for name, model in models.items() if "$ref" not in model}
    kinds = {key: [name, int(key in with_status)] for name, model in models.items() for key in _kinds_of(model.get(_GVK))}
    return Schemas([TypeTable(kinds, types)])


def _kinds_of(extension: Any) -> list[str]:
    entries = extension if isinstance(extension, list) else [extension]
    return [
        f"{entry.get('group', '')}/{entry.get('version', '')}/{entry['kind']}"
        for entry in entries
        if isinstance(entry, dict) and entry.get("kind")
    ]


def _kinds_with_status(paths: dict[str, Any]) -> set[str]:
    """Returns the kinds with a status subresource, for which the server ignores a status that is applied to the object itself."""
    kinds: set[str] = set()
    for path, operations in paths.items():
        if path.endswith("/{name}/status"):
            for operation in operations.values():
                if isinstance(operation, dict):
                    kinds.update(_kinds_of(operation.get(_GVK)))
    return kinds


class _Reader:
    """Converts one schema. With `preserve` the server keeps unknown fields from here on down (`x-kubernetes-preserve-unknown-fields`)."""

    def __init__(self, preserve: bool) -> None:
        self.preserve = preserve

    def atom(self, schema: dict[str, Any]) -> Any:
        """Returns the table entry of a schema that is no reference."""
        if schema.get("x-kubernetes-preserve-unknown-fields") is True:
            self.preserve = True
        kind = schema.get("type", "")
        if kind == "object":
            return self._map(schema)
        if kind == "array":
            return self._list(schema)
        if kind == "string":
            return {"": "string", "byte": "string/bytes", "date-time": "untyped"}.get(schema.get("format", ""), "untyped")
        if kind in _SCALARS:
            return _SCALARS[kind]
        return {"s": "untyped", **self._list(schema), **self._map(schema)}

    def _child(self, schema: dict[str, Any]) -> Any:
        """Converts a nested schema. A reference, bare or alone in `allOf`, stays one, with a map type that overrides its target's."""
        all_of: list[dict[str, Any]] = schema.get("allOf") or []
        target = schema.get("$ref") or (all_of[0].get("$ref") if len(all_of) == 1 else None)
        if not target:
            return _Reader(self.preserve).atom(schema)
        map_type = schema.get("x-kubernetes-map-type", "")
        return {"r": target.rpartition("/")[2], **({"o": map_type} if map_type else {})}

    def _map(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        spec: dict[str, Any] = {"e": self._element(schema, properties)}
        if properties:
            spec["f"] = {name: self._child(member) for name, member in properties.items()}
            defaults = {name: member["default"] for name, member in properties.items() if member.get("default") is not None}
            if defaults:
                spec["d"] = defaults
        if schema.get("x-kubernetes-map-type") == "atomic":
            spec["a"] = 1
        return spec

    def _element(self, schema: dict[str, Any], properties: dict[str, Any]) -> Any:
        """Returns the table entry of undeclared fields; None if they are not allowed."""
        additional = schema.get("additionalProperties")
        if additional is None:
            return "*deduced" if self.preserve or not properties else None
        if isinstance(additional, dict):
            return self._child(additional)
        return "*deduced" if additional else None

    def _list(self, schema: dict[str, Any]) -> dict[str, Any]:
        items = schema.get("items")
        kind, keys = _list_kind(schema)
        return {"i": self._child(items) if isinstance(items, dict) else "*untyped", "l": kind, **({"k": keys} if keys else {})}


def _list_kind(schema: dict[str, Any]) -> tuple[str, list[str]]:
    """Returns `a`tomic, `s`et or `m`ap with its keys. Without a list type, the patch strategy decides."""
    list_type = schema.get("x-kubernetes-list-type")
    if list_type is not None:
        keys = list(schema.get("x-kubernetes-list-map-keys") or ())
        return {"set": ("s", []), "map": ("m", keys)}.get(list_type, ("a", []))
    if str(schema.get("x-kubernetes-patch-strategy", "")).startswith("merge"):
        key = schema.get("x-kubernetes-patch-merge-key")
        return ("m", [key]) if key else ("s", [])
    return "a", []
