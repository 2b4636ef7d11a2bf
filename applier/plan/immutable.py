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


SELECTOR = Frozen((("spec", "selector"),))
SPEC = Frozen((("spec",),))
ROLE = Frozen((("roleRef",),))
DATA: Prefixes = (("data",), ("binaryData",), ("stringData",), ("immutable",))

FROZEN: dict[GroupKind, Frozen] = {
    ("", "Service"): Frozen((("spec", "clusterIP"),)),
    ("", "PersistentVolumeClaim"): Frozen((("spec",),), (("spec", "resources"), ("spec", "volumeAttributesClassName"))),
    ("", "Secret"): Frozen((("type",),)),
    ("", "Pod"): Frozen(
        (
            ("spec", "hostNetwork"),
            ("spec", "nodeName"),
            ("spec", "priorityClassName"),
            ("spec", "restartPolicy"),
            ("spec", "schedulerName"),
            ("spec", "schedulingGates"),
            ("spec", "serviceAccountName"),
            ("spec", "volumes"),
        )
    ),
    (APPS, "ControllerRevision"): Frozen((("data",),)),
    (APPS, "Deployment"): SELECTOR,
    (APPS, "DaemonSet"): SELECTOR,
    (APPS, "ReplicaSet"): SELECTOR,
    (APPS, "StatefulSet"): Frozen(
        (("spec",),),
        (
            ("spec", "replicas"),
            ("spec", "ordinals"),
            ("spec", "template"),
            ("spec", "updateStrategy"),
            ("spec", "revisionHistoryLimit"),
            ("spec", "persistentVolumeClaimRetentionPolicy"),
            ("spec", "minReadySeconds"),
        ),
    ),
    ("batch", "Job"): Frozen((("spec", "selector"), ("spec", "completionMode"), ("spec", "template"))),
    (RBAC, "RoleBinding"): ROLE,
    (RBAC, "ClusterRoleBinding"): ROLE,
    ("resource.k8s.io", "ResourceClaim"): SPEC,
    ("resource.k8s.io", "ResourceClaimTemplate"): SPEC,
    ("scheduling.k8s.io", "PriorityClass"): Frozen((("value",), ("preemptionPolicy",))),
    ("storage.k8s.io", "StorageClass"): Frozen((("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",))),
    ("storage.k8s.io", "VolumeAttributesClass"): Frozen((("driverName",), ("parameters",))),
    ("node.k8s.io", "RuntimeClass"): Frozen((("handler",),)),
    ("networking.k8s.io", "IngressClass"): Frozen((("spec", "controller"),)),
    ("discovery.k8s.io", "EndpointSlice"): Frozen((("addressType",),)),
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
        return SELECTOR
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
