"""Edits by hand: what somebody makes of an object of the operator, behind admission's back (decisions §10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from applier.ref import Kind, Manifest

Change = Callable[[Manifest], None]

SECRET = Kind("", "v1", "Secret")
ACCOUNT = Kind("", "v1", "ServiceAccount")
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role")
BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding")
AUTOSCALER = Kind("autoscaling", "v2", "HorizontalPodAutoscaler")

MANAGED_BY, PART_OF = "app.kubernetes.io/managed-by", "app.kubernetes.io/part-of"
REPLICA = "grove.io/podcliqueset-replica-index"


def put(path: str, value: Any) -> Change:
    """Writes a value at a path (with dots, and indices of lists)."""

    def change(one: Manifest) -> None:
        place, last = _place(one, path)
        place[last] = value

    return change


def drop(path: str) -> Change:
    """Removes what is at a path, if there is anything."""

    def change(one: Manifest) -> None:
        place, last = _place(one, path)
        place.pop(last, None)

    return change


def _place(one: Manifest, path: str) -> tuple[Any, Any]:
    *keys, last = path.split(".")
    place: Any = one
    for key in keys:
        place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
    return place, int(last) if isinstance(place, list) else last


def label(key: str, value: str | None) -> Change:
    """Writes a label, or removes it."""

    def change(one: Manifest) -> None:
        labels = one["metadata"].setdefault("labels", {})
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value

    return change


def every_label(value: str) -> Change:
    """Writes one value into all labels."""

    def change(one: Manifest) -> None:
        one["metadata"]["labels"] = dict.fromkeys(one["metadata"].get("labels") or {}, value)

    return change


def labels_of(old: str, new: str) -> Change:
    """Gives an object the labels that one of another set has."""

    def change(one: Manifest) -> None:
        one["metadata"]["labels"] = {key: value.replace(old, new) for key, value in one["metadata"]["labels"].items()}

    return change


def owner(**fields: Any) -> Change:
    """Changes fields of the owner reference."""

    def change(one: Manifest) -> None:
        one["metadata"]["ownerReferences"] = [{**one["metadata"]["ownerReferences"][0], **fields}]

    return change


def counts(value: Any) -> Change:
    """Writes one value into all counts of a status."""

    def change(one: Manifest) -> None:
        status = one.setdefault("status", {})
        one["status"] = {key: value if key.endswith(("eplicas", "Count")) else old for key, old in status.items()}

    return change


def breached(since: Any) -> Change:
    """Says that too few pods have been ready since a time."""
    reason = {"reason": "InsufficientReadyPods", "message": "somebody says so"}
    return put("status.conditions", [{"type": "MinAvailableBreached", "status": "True", "lastTransitionTime": since, **reason}])
