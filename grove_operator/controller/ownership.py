"""Tells which objects are a set's: by owner references that lead to its UID, for labels can be written by anybody (decisions §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.decision.managers import applied_by
from applier.loop import View
from applier.ref import Manifest, Ref, uid_of
from grove_compiler.labels import OPERATOR
from grove_operator.controller.membership import PARTS
from kube_objects.manifest import group_of

MAX_CHAIN = 3
"""Owners between an object and its set: a pod is of a PodClique, and that of a scaling group."""


def is_of_set(view: View, manifest: Manifest, pcs: Manifest) -> bool:
    """Reports whether an object is a set's: one of its owners, or of their owners, is that set, or it has none and we have made it for it.

    An owner that does not exist any more leads nowhere: what it owned is for the garbage collector. Objects without owners are those of
    users' rules that name none; one that is older than the set was left by an earlier set of that name, and stays.
    """
    owners = manifest["metadata"].get("ownerReferences") or []
    if not owners:
        return applied_by(manifest, OPERATOR) and _created(manifest) >= _created(pcs)
    return _leads_to(view, manifest, pcs, lambda _: False)


def can_be_of_set(view: View, part: Manifest, pcs: Manifest) -> bool:
    """Reports whether a part by the name of one of a set's is it, or will be: what was orphaned the set gets back."""
    return _leads_to(view, part, pcs, lambda orphan: applied_by(orphan, OPERATOR))


def _leads_to(view: View, manifest: Manifest, pcs: Manifest, is_enough: Callable[[Manifest], bool], steps: int = MAX_CHAIN) -> bool:
    """Reports whether owners lead to a set, or to an object without owners that is enough."""
    owners = manifest["metadata"].get("ownerReferences") or []
    if not owners:
        return is_enough(manifest)
    if any(owner.get("uid") == uid_of(pcs) for owner in owners):
        return True
    return steps > 0 and any(_leads_to(view, owner, pcs, is_enough, steps - 1) for owner in _existing(view, manifest, owners))


def _existing(view: View, manifest: Manifest, owners: list[Manifest]) -> Iterator[Manifest]:
    for owner in owners:
        if owner.get("kind") not in PARTS:
            continue
        namespace = manifest["metadata"].get("namespace") or ""
        ref = Ref(group_of(owner.get("apiVersion") or ""), owner["kind"], namespace, owner.get("name") or "")
        live = view.peek(ref)
        if live is not None and uid_of(live) == owner.get("uid"):
            yield live


def _created(manifest: Manifest) -> str:
    return manifest["metadata"].get("creationTimestamp") or ""
