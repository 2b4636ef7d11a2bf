"""What a ResourceClaimTemplate may hold (resource.k8s.io of Kubernetes 1.35), in the words of `kube.structure`.

`v1` and `v1beta2` are alike; in `v1beta1` a request has the fields that the newer versions put under `exactly`.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _struct(required: str = "", **fields: Schema) -> Schema:
    """Returns an object; Kubernetes may be newer than we are, so an unknown field is a warning."""
    schema: Schema = {"kind": "object", "fields": fields, "unknown": "warning"}
    return {**schema, "required": required.split()} if required else schema


def _list(items: Schema) -> Schema:
    """Returns a list as all of this API: server-side apply replaces it as a whole."""
    return {"kind": "list", "items": items, "atomic": True}


_STRING: Schema = {"kind": "string"}
_STRINGS = _list(_STRING)

_SELECTOR = _struct(cel=_struct("expression", expression=_STRING))
_TOLERATION = _struct(
    key=_STRING,
    operator={"kind": "string", "enum": ["Equal", "Exists"], "open": True, "default": "Equal"},
    value=_STRING,
    effect=_STRING,
    tolerationSeconds={"kind": "integer"},
)
_DEVICES: dict[str, Schema] = {
    "deviceClassName": _STRING,
    "selectors": _list(_SELECTOR),
    "allocationMode": _STRING,
    "count": {"kind": "integer"},
    "tolerations": _list(_TOLERATION),
    "capacity": _struct(requests={"kind": "map", "values": {"kind": "quantity"}}),
}
"""What exact requests and their alternatives have in common."""
_EXACTLY: dict[str, Schema] = {**_DEVICES, "adminAccess": {"kind": "boolean"}}
_FIRST_AVAILABLE = _list(_struct("name deviceClassName", name=_STRING, **_DEVICES))
_REQUEST = _struct("name", name=_STRING, exactly=_struct("deviceClassName", **_EXACTLY), firstAvailable=_FIRST_AVAILABLE)
_REQUEST_V1BETA1 = _struct("name", name=_STRING, **_EXACTLY, firstAvailable=_FIRST_AVAILABLE)
_CONSTRAINT = _struct(requests=_STRINGS, matchAttribute=_STRING, distinctAttribute=_STRING)
_OPAQUE = _struct("driver parameters", driver=_STRING, parameters={"kind": "map"})
_CONFIG = _struct(requests=_STRINGS, opaque=_OPAQUE)


def _template_spec(request: Schema) -> Schema:
    devices = _struct(requests=_list(request), constraints=_list(_CONSTRAINT), config=_list(_CONFIG))
    return _struct("spec", metadata={"ref": "core/v1.ObjectMeta"}, spec=_struct(devices=devices))


def _template(version: str) -> Schema:
    fields: dict[str, Schema] = {
        "apiVersion": _STRING,
        "kind": _STRING,
        "metadata": {"ref": "core/v1.ObjectMeta"},
        "spec": {"ref": f"resource.k8s.io/{version}.ResourceClaimTemplateSpec"},
    }
    return _struct("apiVersion kind metadata spec", **fields)


DEFINITIONS: dict[str, Schema] = {
    "resource.k8s.io/v1.ResourceClaimTemplateSpec": _template_spec(_REQUEST),
    "resource.k8s.io/v1beta2.ResourceClaimTemplateSpec": _template_spec(_REQUEST),
    "resource.k8s.io/v1beta1.ResourceClaimTemplateSpec": _template_spec(_REQUEST_V1BETA1),
    **{f"resource.k8s.io/{version}.ResourceClaimTemplate": _template(version) for version in ("v1", "v1beta2", "v1beta1")},
}
