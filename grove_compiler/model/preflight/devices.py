"""What claims of dynamic resource allocation ask for, at any version of `resource.k8s.io`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot, Unknown
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record

RESOURCE_API = "resource.k8s.io/v1"
IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""What stands before the name of a class where a pod asks for it as for an extended resource (KEP-5004)."""


@record
class Device:
    """One way in which a request may be met: devices of a class, with the text of the CEL expressions that choose among them.

    `is_admin` says that the request only looks at devices which others use.
    """

    device_class: str
    selectors: str
    is_admin: bool


@record
class DeviceRequest:
    """One request of a claim; several `alternatives` are a `firstAvailable` list."""

    name: str
    alternatives: list[Device]


@record(slots=False)
class Claim:
    """An entry of a pod's `resourceClaims`.

    `problem` says why nobody knows what it asks for, and is empty where that is known.
    """

    name: str
    path: str
    spec: Manifest
    problem: str

    @lazy
    def requests(self) -> list[DeviceRequest]:
        """What it asks for."""
        devices = self.spec.get("devices") or {}
        old = self.spec.get("resourceClassName")  # resource.k8s.io/v1alpha2: a claim asked for one class
        found = [DeviceRequest("", [Device(old, "", False)])] if isinstance(old, str) and old else []
        return [*found, *(_request(each) for each in devices.get("requests") or [] if isinstance(each, dict))]

    @lazy
    def device_classes(self) -> list[str]:
        """The classes that its requests name."""
        return [device.device_class for request in self.requests for device in request.alternatives]


def claims_of(pod_spec: Manifest, namespace: str, snapshot: Snapshot) -> list[Claim]:
    """Returns the pod's claims with what the objects ask for that they name."""
    entries = pod_spec.get("resourceClaims") or []
    return [_claim(entry, f"spec.resourceClaims[{index}]", namespace, snapshot) for index, entry in enumerate(entries)]


def extended_resources(snapshot: Snapshot, classes: list[str]) -> list[str]:
    """Returns the extended resources by which pods ask for devices of these classes (KEP-5004)."""
    named = [extended_resource(one) for one in device_classes(snapshot) if one["metadata"]["name"] in classes]
    return [*(IMPLICIT_PREFIX + name for name in classes), *(name for name in named if name)]


def classes_behind(snapshot: Snapshot, resources: list[str]) -> list[str]:
    """Returns the classes whose devices pods also get by one of these extended resources (KEP-5004)."""
    return [one["metadata"]["name"] for one in device_classes(snapshot) if extended_resource(one) in resources]


def device_classes(snapshot: Snapshot) -> list[Manifest]:
    """Returns the DeviceClasses of the cluster; none where nobody knows them yet."""
    try:
        return snapshot.of_kind(RESOURCE_API, "DeviceClass")
    except Unknown:
        return []


def extended_resource(device_class: Manifest) -> str:
    """Returns the extended resource that a class says it stands for; empty without one."""
    return str((device_class.get("spec") or {}).get("extendedResourceName") or "")


def _claim(entry: Manifest, path: str, namespace: str, snapshot: Snapshot) -> Claim:
    source = entry.get("source") or {}  # until resource.k8s.io/v1alpha2, the two stood one level down
    names = {
        kind: entry.get(field) or source.get(field)
        for kind, field in (("ResourceClaim", "resourceClaimName"), ("ResourceClaimTemplate", "resourceClaimTemplateName"))
    }
    kind, name = next(((kind, name) for kind, name in names.items() if name), ("", ""))
    claim = Claim(str(entry.get("name") or ""), path, {}, "")
    if not kind:
        claim.problem = "it names neither a ResourceClaim nor a ResourceClaimTemplate"
        return claim
    try:
        found = snapshot.get(RESOURCE_API, kind, namespace, str(name))
    except Unknown as error:
        claim.problem = f"the {kind} {name} is not known yet ({error})"
        return claim
    if found is None:
        claim.problem = f"there is no {kind} {name} in the namespace {namespace}"
        return claim
    spec = found.get("spec") or {}
    claim.spec = (spec.get("spec") or {}) if kind == "ResourceClaimTemplate" else spec
    return claim


def _request(request: Manifest) -> DeviceRequest:
    """Reads v1 (`exactly`, `firstAvailable`), and v1beta1 and older, where one device stands in the request itself."""
    alternatives = request.get("firstAvailable") or [request.get("exactly") or request]
    return DeviceRequest(str(request.get("name") or ""), [_device(one) for one in alternatives if isinstance(one, dict)])


def _device(one: Manifest) -> Device:
    return Device(str(one.get("deviceClassName") or ""), "\n".join(_expressions(one.get("selectors"))), one.get("adminAccess") is True)


def _expressions(selectors: Any) -> Iterator[str]:
    for selector in selectors or []:
        yield str((selector.get("cel") or {}).get("expression") or "")
