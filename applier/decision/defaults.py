"""What the server's own code fills into atomic fields of built-in kinds, where no OpenAPI document says it.

Only atomics matter: elsewhere a default is a field of its own that nobody owns. Source: `pkg/apis/*/v*/defaults.go` of Kubernetes 1.35.
A default that is missing here costs a dry run, no mistake: see `applier.decision.storing`.
"""

from __future__ import annotations

from typing import Any

_DEFAULTS: dict[str, dict[str, Any]] = {
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.ResourceFieldSelector": {"divisor": "0"},
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.v1.PersistentVolumeClaim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
    "core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.MatchResources": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
    "rbac.v1.Subject": {"apiGroup": "rbac.authorization.k8s.io"},
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "resource.v1.ExactDeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta2.ExactDeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta2.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta1.DeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta1.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
}


def filled_in(definition: str, field: str) -> Any:
    """The default of a field of a definition of the OpenAPI document; None where there is none known."""
    return _DEFAULTS.get(definition.removeprefix("io.k8s.api."), {}).get(field)


_POD_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]


def without_added(definition: str, steps: tuple[str, ...], stored: list[Any], sent: list[Any]) -> list[Any]:
    """A stored list without the items that admission adds to it whenever they are missing: a Pod's tolerations of lost nodes."""
    if definition != "io.k8s.api.core.v1.Pod" or steps != ("f:spec", "f:tolerations"):
        return stored
    return [item for item in stored if item in sent or item not in _POD_TOLERATIONS]
