"""Lists the fields that are immutable by Kubernetes' validation.

They are used for predictions in plans, without a request. In doubt a field counts as mutable: the server decides, and nothing is deleted
before it has rejected the change. `tests/applier/execute` compares the table with a real API server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from applier.outcome import ABSENT, FieldChange, Path
from applier.ref import GroupKind, Manifest, Ref

APPS, RBAC = "apps", "rbac.authorization.k8s.io"
Prefixes = tuple[tuple[str, ...], ...]


class Frozen(NamedTuple):
    """Represents a kind's immutable fields: everything under `fields`, except what is under `free`."""

    fields: Prefixes
    free: Prefixes = ()


def _of(fields: str, free: str = "") -> Frozen:
    """Returns the immutable fields of dotted paths, which blanks separate."""
    return Frozen(*(tuple(tuple(path.split(".")) for path in paths.split()) for paths in (fields, free)))


DATA: Prefixes = (("data",), ("binaryData",), ("stringData",), ("immutable",))

FROZEN: dict[GroupKind, Frozen] = {
    ("", "Service"): _of("spec.clusterIP"),
    ("", "PersistentVolumeClaim"): _of("spec", free="spec.resources spec.volumeAttributesClassName"),
    ("", "Secret"): _of("type"),
    ("", "Pod"): _of(
        "spec.hostNetwork spec.nodeName spec.priorityClassName spec.restartPolicy spec.schedulerName spec.schedulingGates"
        " spec.serviceAccountName spec.volumes"
    ),
    (APPS, "ControllerRevision"): _of("data"),
    (APPS, "Deployment"): _of("spec.selector"),
    (APPS, "DaemonSet"): _of("spec.selector"),
    (APPS, "ReplicaSet"): _of("spec.selector"),
    (APPS, "StatefulSet"): _of(
        "spec",
        free="spec.replicas spec.ordinals spec.template spec.updateStrategy spec.revisionHistoryLimit"
        " spec.persistentVolumeClaimRetentionPolicy spec.minReadySeconds",
    ),
    ("batch", "Job"): _of("spec.selector spec.completionMode spec.template"),
    (RBAC, "RoleBinding"): _of("roleRef"),
    (RBAC, "ClusterRoleBinding"): _of("roleRef"),
    ("resource.k8s.io", "ResourceClaim"): _of("spec"),
    ("resource.k8s.io", "ResourceClaimTemplate"): _of("spec"),
    ("scheduling.k8s.io", "PriorityClass"): _of("value preemptionPolicy"),
    ("storage.k8s.io", "StorageClass"): _of("provisioner parameters reclaimPolicy volumeBindingMode"),
    ("storage.k8s.io", "VolumeAttributesClass"): _of("driverName parameters"),
    ("node.k8s.io", "RuntimeClass"): _of("handler"),
    ("networking.k8s.io", "IngressClass"): _of("spec.controller"),
    ("discovery.k8s.io", "EndpointSlice"): _of("addressType"),
}
"""By group and kind."""

SET_ONCE: Prefixes = (("spec", "clusterIP"), ("spec", "volumeName"), ("spec", "storageClassName"))
"""Fields that may be set as long as they are empty."""

ONLY_REMOVED: Prefixes = (("spec", "schedulingGates"),)
"""Lists of which items may be removed, but never added."""


def fixed_fields(ref: Ref, live: Manifest, changes: Iterable[FieldChange]) -> list[Path]:
    """Returns those changed fields of an object that are immutable, in the order of the changes."""
    frozen = _frozen(ref, live)
    return [] if frozen is None else [change.path for change in changes if _is_fixed(change, frozen, live)]


def _frozen(ref: Ref, live: Manifest) -> Frozen | None:
    if ref[:2] in (("", "ConfigMap"), ("", "Secret")) and live.get("immutable") is True:
        return Frozen((*DATA, ("type",)))
    if ref[:2] == ("batch", "Job") and (live.get("spec") or {}).get("suspend"):
        return _of("spec.selector")
    return FROZEN.get(ref[:2])


def _is_fixed(change: FieldChange, frozen: Frozen, live: Manifest) -> bool:
    if change.path in SET_ONCE and change.old in (ABSENT, ""):
        return False
    if change.path[:2] in ONLY_REMOVED and change.new is ABSENT:
        return False
    if change.path == ("spec", "clusterIP") and (live.get("spec") or {}).get("type") == "ExternalName":
        return False
    return _is_under(change.path, frozen.fields) and not _is_under(change.path, frozen.free)


def _is_under(path: tuple[Any, ...], prefixes: Prefixes) -> bool:
    return any(path[: len(prefix)] == prefix for prefix in prefixes)
