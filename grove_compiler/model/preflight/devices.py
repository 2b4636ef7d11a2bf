"""Reads the device requests of a pod's claims (dynamic resource allocation), in any version of `resource.k8s.io`."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.sharing import CLAIM_API_VERSION
from grove_compiler.record import record
from grove_compiler.unknown import Unknown

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""The prefix of the extended resource through which a pod requests devices of a class by the class's name (KEP-5004)."""


@record
class Device:
    """An alternative of a device request: a device class, and the CEL expressions of its selectors, one a line.

    `is_admin` marks a request with `adminAccess`, which only monitors devices that are in use by others.
    """

    device_class: str
    selectors: str
    is_admin: bool


@record
class DeviceRequest:
    """A device request of a claim. It has several `alternatives` if it is a `firstAvailable` list."""

    name: str
    alternatives: list[Device]


@record(slots=False)
class PodResourceClaim:
    """An entry of a pod's `resourceClaims`, with the spec of its ResourceClaim or ResourceClaimTemplate.

    `problem` tells why that spec could not be read; it is empty if it could.
    """

    name: str
    path: str
    spec: Manifest
    problem: str

    @lazy
    def requests(self) -> list[DeviceRequest]:
        """Its device requests."""
        devices = self.spec.get("devices") or {}
        old_class = self.spec.get("resourceClassName")  # in resource.k8s.io/v1alpha2 a claim names one class
        old = [DeviceRequest("", [Device(old_class, "", False)])] if isinstance(old_class, str) and old_class else []
        return [*old, *(_request(request) for request in devices.get("requests") or [] if isinstance(request, dict))]

    @lazy
    def device_classes(self) -> list[str]:
        """The device classes that its requests name."""
        return [device.device_class for request in self.requests for device in request.alternatives]


def claims_of(pod_spec: Manifest, namespace: str, snapshot: Snapshot) -> list[PodResourceClaim]:
    """Returns the claims of a pod."""
    entries = pod_spec.get("resourceClaims") or []
    return [_claim(entry, f"spec.resourceClaims[{index}]", namespace, snapshot) for index, entry in enumerate(entries)]


def extended_resources(snapshot: Snapshot, classes: list[str]) -> list[str]:
    """Returns the extended resources through which pods request devices of these classes (KEP-5004)."""
    explicit = [_extended_resource(manifest) for manifest in _device_classes(snapshot) if manifest["metadata"]["name"] in classes]
    return [*(IMPLICIT_PREFIX + name for name in classes), *(name for name in explicit if name)]


def classes_behind(snapshot: Snapshot, resources: list[str]) -> list[str]:
    """Returns the device classes that serve one of these extended resources (KEP-5004)."""
    return [manifest["metadata"]["name"] for manifest in _device_classes(snapshot) if _extended_resource(manifest) in resources]


def _device_classes(snapshot: Snapshot) -> list[Manifest]:
    """Returns the DeviceClasses of the cluster; empty while they are not synced."""
    try:
        return snapshot.of_kind(CLAIM_API_VERSION, "DeviceClass")
    except Unknown:
        return []


def _extended_resource(device_class: Manifest) -> str:
    """Returns the `extendedResourceName` of a DeviceClass; empty without one."""
    return str((device_class.get("spec") or {}).get("extendedResourceName") or "")


def _claim(entry: Manifest, path: str, namespace: str, snapshot: Snapshot) -> PodResourceClaim:
    source = entry.get("source") or {}  # holds the two fields until resource.k8s.io/v1alpha2
    names = {
        kind: entry.get(field) or source.get(field)
        for kind, field in (("ResourceClaim", "resourceClaimName"), ("ResourceClaimTemplate", "resourceClaimTemplateName"))
    }
    kind, name = next(((kind, name) for kind, name in names.items() if name), ("", ""))
    spec, problem = _claim_spec(kind, str(name), namespace, snapshot)
    return PodResourceClaim(str(entry.get("name") or ""), path, spec, problem)


def _claim_spec(kind: str, name: str, namespace: str, snapshot: Snapshot) -> tuple[Manifest, str]:
    """Returns the spec of a claim, of which `kind` is either the object itself or its template, and why it could not be read."""
    if not kind:
        return {}, "it refers to neither a ResourceClaim nor a ResourceClaimTemplate"
    try:
        manifest = snapshot.get(CLAIM_API_VERSION, kind, namespace, name)
    except Unknown as error:
        return {}, f"the {kind} {name} cannot be read yet ({error})"
    if manifest is None:
        return {}, f"there is no {kind} {name} in the namespace {namespace}"
    spec = manifest.get("spec") or {}
    return (spec.get("spec") or {}) if kind == "ResourceClaimTemplate" else spec, ""


def _request(request: Manifest) -> DeviceRequest:
    """Reads a request of v1 (`exactly`, `firstAvailable`), or of v1beta1 and older, where the device's fields are the request's own."""
    alternatives = request.get("firstAvailable") or [request.get("exactly") or request]
    return DeviceRequest(str(request.get("name") or ""), [_device(device) for device in alternatives if isinstance(device, dict)])


def _device(device: Manifest) -> Device:
    selectors = (str((selector.get("cel") or {}).get("expression") or "") for selector in device.get("selectors") or [])
    return Device(str(device.get("deviceClassName") or ""), "\n".join(selectors), device.get("adminAccess") is True)
