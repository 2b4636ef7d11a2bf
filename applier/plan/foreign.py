"""Tells whether an object that exists is ours to change, or belongs to somebody else who has given it the same name."""

from __future__ import annotations

from applier.decision.managers import applied_by
from applier.plan.reasons import manager_names
from applier.ref import Manifest, Ref


def whose(desired: Manifest, live: Manifest, manager: str) -> str:
    """Returns whose object this is, as a part of a sentence: `made by helm`, `of PodClique.grove.io shop/a-0-b`; empty if it is ours.

    An object has one controller at most: where it has another than the desired one, it is that one's, whoever wrote it. Without one, it is
    ours if it has an owner of the desired ones, or if `manager` has applied or created it. `desired` has the UIDs of its owners.
    """
    wanted, existing = _owners(desired), _owners(live)
    controller = next((owner for owner in existing.values() if owner.get("controller")), None)
    if controller is not None and controller.get("uid") not in wanted:
        return f"of {_ref(controller, live)}"
    if wanted.keys() & existing.keys() or applied_by(live, manager):
        return ""
    return f"created by {manager_names(live)}"


def _owners(manifest: Manifest) -> dict[str, Manifest]:
    return {str(owner.get("uid")): owner for owner in manifest["metadata"].get("ownerReferences") or ()}


def _ref(owner: Manifest, live: Manifest) -> Ref:
    group = str(owner.get("apiVersion") or "").rpartition("/")[0]
    return Ref(group, str(owner.get("kind")), str(live["metadata"].get("namespace") or ""), str(owner.get("name")))
