"""Tells whose an existing object is: ours to change, of somebody who gave it the same name, or a member of another ApplySet (KEP-3659).

By the KEP it is an error to apply, as part of one set, an object with the label of another set, whose next prune would no longer find it.
kubectl 1.35 does not check this, and moves the object. Here it is held, unless it is forced. An apply without a set does not remove the
label either, although the manifest lacks it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from applier.decision import owners_at
from applier.decision.managers import applied_by
from applier.outcome import Conflict, Obstacle
from applier.plan.reasons import manager_names
from applier.ref import Manifest, Ref
from kube_objects.manifest import group_of

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


class Whose(NamedTuple):
    """Tells whose an object is, as a part of a sentence (`created by helm`, `of PodClique.grove.io/shop/a-0-b`), and what that means."""

    words: str
    obstacle: Obstacle


def whose(desired: Manifest, live: Manifest, *managers: str) -> Whose | None:
    """Returns whose object this is; None if ours.

    An object has one controller at most: where it has another than the desired one, it is that one's, whoever wrote it. Without one, it is
    ours if one of our `managers` has applied or created it, or if it has a desired owner that is not to control it: to name one that is, as
    an owner that does not, only has an object go with that one. `desired` has the UIDs of its owners.
    """
    wanted, existing = _owners(desired), _owners(live)
    controller = next((owner for owner in existing.values() if owner.get("controller")), None)
    if controller is not None:
        if controller.get("uid") in wanted:
            return None
        ref = _ref(controller, live)
        is_earlier = ref in (_ref(owner, live) for owner in wanted.values())
        return Whose(f"left by an earlier {ref}", Obstacle.EARLIER) if is_earlier else Whose(f"of {ref}", Obstacle.FOREIGN)
    if any(uid in existing and not owner.get("controller") for uid, owner in wanted.items()):
        return None
    if any(applied_by(live, manager) for manager in managers):
        return None
    return Whose(f"created by {manager_names(live)}", Obstacle.FOREIGN)


def controllers_of(manifest: Manifest) -> set[str]:
    """Returns the UID of an object's controller; empty for none."""
    return {uid for uid, owner in _owners(manifest).items() if owner.get("controller")}


def _owners(manifest: Manifest) -> dict[str, Manifest]:
    return {str(owner.get("uid")): owner for owner in manifest["metadata"].get("ownerReferences") or ()}


def _ref(owner: Manifest, live: Manifest) -> Ref:
    group = group_of(str(owner.get("apiVersion") or ""))
    return Ref(group, str(owner.get("kind")), str(live["metadata"].get("namespace") or ""), str(owner.get("name")))
