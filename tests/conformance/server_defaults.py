"""What a kube-apiserver 1.35 adds to objects when it stores them, so that objects can be compared before and after."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from kube_objects import quantity

Manifest = dict[str, Any]

GENERATED_METADATA = ("creationTimestamp", "generation", "generateName", "managedFields", "resourceVersion", "uid")
DEFAULT_METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]
SERVICE_DEFAULTS = {
    "clusterIPs": ["None"],
    "internalTrafficPolicy": "Cluster",
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
    "sessionAffinity": "None",
    "type": "ClusterIP",
}
POD_DEFAULTS = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
CONTAINER_DEFAULTS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
PROBE_DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
NODE_TROUBLES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")

# Go fields that are no pointers: the server does not store them when they are false.
UNSTORED_WHEN_FALSE = ("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly")


def as_stored(manifest: Manifest) -> Manifest:
    """The object as the server would store it, without what only the server knows: UIDs, versions, status."""
    result = copy.deepcopy(manifest)
    result.pop("status", None)
    _metadata(result["metadata"])
    if result["kind"] in SPECS:
        SPECS[result["kind"]](result)
    return result


def _metadata(metadata: Manifest) -> None:
    for key in GENERATED_METADATA:
        metadata.pop(key, None)
    for key in ("labels", "annotations"):
        if not metadata.get(key):
            metadata.pop(key, None)
    for reference in metadata.get("ownerReferences") or []:
        reference.pop("uid", None)


def _service(service: Manifest) -> None:
    service["spec"] = {**SERVICE_DEFAULTS, **service["spec"]}


def _autoscaler(autoscaler: Manifest) -> None:
    autoscaler["spec"].setdefault("metrics", DEFAULT_METRICS)


def _secret(secret: Manifest) -> None:
    secret.pop("data", None)
    secret["metadata"]["annotations"].pop("kubernetes.io/service-account.uid", None)


def _claim(claim: Manifest) -> None:
    for request in claim["spec"]["devices"]["requests"]:
        exactly = request.setdefault("exactly", {})
        exactly.setdefault("allocationMode", "ExactCount")
        if exactly["allocationMode"] == "ExactCount":
            exactly.setdefault("count", 1)


def _pod(pod: Manifest) -> None:
    _pod_spec(pod["spec"])


def _clique(clique: Manifest) -> None:
    """The CRD's defaults, and what Go's types do to a manifest on its way through the webhook (shipped semantics §6.1)."""
    spec = clique["spec"]["podSpec"]
    clique["spec"].setdefault("roleName", "")
    _drop_false(spec)
    _canonical_quantities(spec)
    for container in _containers(spec):
        _container_shape(container)
    for volume in spec.get("volumes") or []:
        _volume_shape(volume)


SPECS: dict[str, Callable[[Manifest], None]] = {
    "HorizontalPodAutoscaler": _autoscaler,
    "Pod": _pod,
    "PodClique": _clique,
    "ResourceClaim": _claim,
    "Secret": _secret,
    "Service": _service,
}


def _pod_spec(spec: Manifest) -> None:
    for key, value in POD_DEFAULTS.items():
        spec.setdefault(key, copy.copy(value))
    if "serviceAccountName" in spec:
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    _drop_false(spec)
    _canonical_quantities(spec)
    _tolerations(spec)
    for container in _containers(spec):
        _container_shape(container)
        _container_defaults(container)
    for volume in spec.get("volumes") or []:
        _volume_shape(volume)
        _volume_defaults(volume)


def _containers(spec: Manifest) -> Iterator[Manifest]:
    yield from spec.get("initContainers") or []
    yield from spec.get("containers") or []


def _drop_empty(entry: Manifest, *keys: str) -> None:
    for key in keys:
        if not entry.get(key, True):
            del entry[key]


def _drop_false(entry: Manifest) -> None:
    for key in UNSTORED_WHEN_FALSE:
        if entry.get(key) is False:
            del entry[key]


def _tolerations(spec: Manifest) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in NODE_TROUBLES:
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            tolerations.append({"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300})


def _tolerates(toleration: Manifest, key: str) -> bool:
    return toleration.get("effect") in (None, "NoExecute") and toleration.get("key") in (None, key)


def _container_shape(container: Manifest) -> None:
    """What holds for pods and for the CRD: no empty parts, `TCP` as the protocol of ports."""
    _drop_false(container)
    resources = container.get("resources") or {}
    _drop_empty(resources, "limits", "requests")
    _drop_empty(container, "env", "resources")
    for variable in container.get("env") or []:
        _drop_empty(variable, "value")
        _divisor(variable.get("valueFrom") or {})
    for port in container.get("ports") or []:
        port.setdefault("protocol", "TCP")
    for mount in container.get("volumeMounts") or []:
        _drop_false(mount)


def _container_defaults(container: Manifest) -> None:
    for key, value in CONTAINER_DEFAULTS.items():
        container.setdefault(key, value)
    container.setdefault("resources", {})
    container.setdefault("imagePullPolicy", "Always" if _is_latest(container.get("image", "")) else "IfNotPresent")
    resources = container["resources"]
    if "limits" in resources:
        resources["requests"] = {**resources["limits"], **resources.get("requests", {})}
    for variable in container.get("env") or []:
        _api_version(variable.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            container[name] = {**PROBE_DEFAULTS, **container[name]}
            _handler(container[name])
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            _handler(hook)


def _is_latest(image: str) -> bool:
    name = image.rpartition("/")[2]
    return "@" not in name and name.partition(":")[2] in ("", "latest")


def _handler(handler: Manifest) -> None:
    if "httpGet" in handler:
        handler["httpGet"].setdefault("scheme", "HTTP")
        handler["httpGet"].setdefault("path", "/")
    if "grpc" in handler:
        handler["grpc"].setdefault("service", "")


def _api_version(source: Manifest) -> None:
    if "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", "v1")


def _divisor(source: Manifest) -> None:
    if "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")


def _volume_shape(volume: Manifest) -> None:
    """What holds for pods and for the CRD: Go's values that are no pointers are there even when they are empty."""
    _drop_false(volume)
    for item in _downward_items(volume):
        _divisor(item)
    if "ephemeral" in volume:
        volume["ephemeral"]["volumeClaimTemplate"].setdefault("metadata", {})


def _downward_items(volume: Manifest) -> Iterator[Manifest]:
    for part in [volume, *(volume.get("projected") or {}).get("sources", [])]:
        yield from (part.get("downwardAPI") or {}).get("items") or []


def _volume_defaults(volume: Manifest) -> None:
    for kind in ("secret", "configMap", "downwardAPI", "projected"):
        if kind in volume:
            volume[kind].setdefault("defaultMode", 420)
    for item in _downward_items(volume):
        _api_version(item)
    for part in (volume.get("projected") or {}).get("sources", []):
        if "serviceAccountToken" in part:
            part["serviceAccountToken"].setdefault("expirationSeconds", 3600)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")
    if "ephemeral" in volume:
        volume["ephemeral"]["volumeClaimTemplate"]["spec"].setdefault("volumeMode", "Filesystem")


def _canonical_quantities(spec: Manifest) -> None:
    for container in _containers(spec):
        for part in ("limits", "requests"):
            amounts = (container.get("resources") or {}).get(part)
            if amounts:
                container["resources"][part] = {name: quantity.canonical(amount) for name, amount in amounts.items()}
        for variable in container.get("env") or []:
            divisor = ((variable.get("valueFrom") or {}).get("resourceFieldRef") or {}).get("divisor")
            if divisor is not None:
                variable["valueFrom"]["resourceFieldRef"]["divisor"] = quantity.canonical(divisor)
