"""Tells whose an object is: a set's by owner references that lead to its UID, for labels can be written by anybody (decisions §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from applier.decision.managers import applied_by
from applier.loop import View
from applier.ref import Manifest, Ref, uid_of
from grove_compiler.decoder import SET_KIND
from grove_compiler.labels import OPERATOR
from grove_compiler.model.inputs.snapshot import controller_of
from kube_objects.manifest import group_of, is_terminating

PARTS = {"PodClique": "grove.io", "PodCliqueScalingGroup": "grove.io", "PodGang": "scheduler.grove.io"}
"""The kinds of the parts of a set, with their groups: they are owned, and own objects themselves."""
OWNERS = {**PARTS, SET_KIND: "grove.io"}
ORPHAN = "orphan"
"""The finalizer of an object that is deleted with `--cascade=orphan`, while the garbage collector takes its references from all others."""


def is_orphaning(live: Manifest) -> bool:
    """Reports whether an object is being deleted so that what it owns stays."""
    return is_terminating(live) and ORPHAN in (live["metadata"].get("finalizers") or [])


MAX_CHAIN = 3
"""Owners between an object and its set: a pod is of a PodClique, and that of a scaling group."""


def is_of_set(view: View, manifest: Manifest, pcs: Manifest) -> bool:
    """Reports whether an object is a set's: its controller is that set or leads to it, or it has no owner and we have made it for the set.

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
    if not manifest["metadata"].get("ownerReferences"):
        return is_enough(manifest)
    if is_owned_by(manifest, uid_of(pcs)):
        return True
    return steps > 0 and any(_leads_to(view, owner, pcs, is_enough, steps - 1) for owner in _existing(view, manifest))


def is_owned_by(manifest: Manifest, uid: str) -> bool:
    """Reports whether the owner of this UID decides whose an object is."""
    return any(owner.get("uid") == uid for owner in _deciding_owners(manifest))


def _deciding_owners(manifest: Manifest) -> list[Manifest]:
    """Returns the owners that decide whose an object is: its controller, or all of one that we have made and nobody controls any more.

    Whoever names a set as an owner that does not control an object only has it go with the set.
    """
    controller = controller_of(manifest)
    if controller is not None:
        return [controller]
    return manifest["metadata"].get("ownerReferences") or [] if applied_by(manifest, OPERATOR) else []


def is_of_older_set(view: View, manifest: Manifest, pcs: Manifest) -> bool:
    """Reports whether an object is of another set that exists, and that is older than this one; of the same second, the UID decides."""
    return any((_created(one), uid_of(one)) < (_created(pcs), uid_of(pcs)) for one in _sets_of(view, manifest))


def _sets_of(view: View, manifest: Manifest, steps: int = MAX_CHAIN) -> Iterator[Manifest]:
    """Yields the existing sets to which an object's owners lead."""
    for owner in _existing(view, manifest, OWNERS):
        if owner["kind"] == SET_KIND:
            yield owner
        elif steps > 0:
            yield from _sets_of(view, owner, steps - 1)


def _existing(view: View, manifest: Manifest, kinds: Mapping[str, str] = PARTS) -> Iterator[Manifest]:
    """Yields the owners of some kinds that exist. Kinds of other groups by these names are not watched, and cannot be looked for."""
    for owner in _deciding_owners(manifest):
        group = group_of(owner.get("apiVersion") or "")
        if not group or kinds.get(owner.get("kind") or "") != group:
            continue
        namespace = manifest["metadata"].get("namespace") or ""
        live = view.peek(Ref(group, owner["kind"], namespace, owner.get("name") or ""))
        if live is not None and uid_of(live) == owner.get("uid"):
            yield live


def _created(manifest: Manifest) -> str:
    return manifest["metadata"].get("creationTimestamp") or ""
