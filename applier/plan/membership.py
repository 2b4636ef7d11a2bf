"""Reads the ApplySet (KEP-3659) of which an object is a member, and prevents an apply from changing that accidentally.

By the KEP it is an error to apply, as part of one set, an object with the label of another set, whose next prune would no longer find it.
kubectl 1.35 does not check this, and moves the object. Here it is held, unless it is forced. An apply without a set does not remove the
label either, although the manifest lacks it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from applier.decision import owners_at
from applier.outcome import Conflict
from applier.ref import Manifest

PART_OF = "applyset.kubernetes.io/part-of"
"""The label of members; its value is the id of their set."""

LABEL = ("metadata", "labels", PART_OF)
ALL = "*"


def part_of(manifest: Manifest) -> str:
    """Returns the label's value; empty without the label."""
    labels = (manifest.get("metadata") or {}).get("labels")
    return str(labels.get(PART_OF) or "") if labels else ""


def set_of(live: Manifest) -> str:
    """Returns the id of the ApplySet of which a live object is a member; empty for none.

    A controller may copy labels from an object to those that it creates for it (endpoint slices have those of their service). Such a copy
    is controlled by another object, and its label was not applied: it is not a member.
    """
    applyset_id = part_of(live)
    if not applyset_id:
        return ""
    metadata = live["metadata"]
    controlled = any(owner.get("controller") for owner in metadata.get("ownerReferences") or ())
    return applyset_id if not controlled or any(map(_applied_label, metadata.get("managedFields") or ())) else ""


def _applied_label(entry: dict[str, Any]) -> bool:
    """Reports whether the membership label was set by an apply, on the server or as kubectl does on the client."""
    applies = entry.get("operation") == "Apply" or entry.get("manager") == "kubectl-client-side-apply"
    return applies and _has_label(entry)


def _has_label(entry: dict[str, Any]) -> bool:
    return f"f:{PART_OF}" in (((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:labels") or {})


def staying(manifest: Manifest, live: Manifest, manager: str) -> Manifest:
    """Adds the live label to a manifest without one if the apply would remove it; otherwise returns the same manifest."""
    applyset_id = part_of(live)
    if not applyset_id or part_of(manifest) or not _is_ours(live, manager):
        return manifest
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), PART_OF: applyset_id}}}


def _is_ours(live: Manifest, manager: str) -> bool:
    return any(
        entry.get("manager") == manager and entry.get("operation") == "Apply" and _has_label(entry)
        for entry in live["metadata"].get("managedFields") or ()
    )


def applyset_left(manifest: Manifest, live: Manifest) -> str:
    """Returns the id of the ApplySet that a live object would leave for the manifest's own; empty if it leaves none."""
    desired = part_of(manifest)
    current = set_of(live) if desired else ""
    return current if current != desired else ""


def may_change_applyset(conflicts: Collection[Conflict], may: Collection[str]) -> bool:
    """Reports whether an object may be moved: by force against everybody, or against all owners of the label."""
    return ALL in may or (bool(conflicts) and all(conflict.owner.manager in may for conflict in conflicts))


def conflicts_over(live: Manifest) -> list[Conflict]:
    """Returns the label as a field in conflict, with each of its owners."""
    return [Conflict(LABEL, owner) for owner in owners_at(live, LABEL)]
