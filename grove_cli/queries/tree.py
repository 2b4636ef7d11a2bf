"""Builds trees of live objects by their owner references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field

from applier.ref import Manifest, Ref, uid_of
from grove_cli.tree_rows import branched
from grove_compiler.record import record

KIND_ORDER = ("PodCliqueScalingGroup", "PodGang", "PodClique", "Pod")
"""The order of kinds below an owner; other kinds follow by name."""


@record
class Branch:
    """An object and the branches of the objects that it owns."""

    manifest: Manifest
    children: list[Branch] = field(default_factory=list)

    @property
    def ref(self) -> Ref:
        return Ref.of(self.manifest)


def grow(root: Manifest, objects: Iterable[Manifest]) -> Branch:
    """Returns the tree below `root`, by the UIDs of owner references.

    An object with several owners is below its controller, or else below the first. Each object is in the tree once, so that cycles of
    references end.
    """
    owned: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in objects:
        owner = owner_uid(manifest)
        if owner:
            owned[owner].append(manifest)
    seen = {uid_of(root)}
    top = Branch(root)
    stack = [top]
    while stack:
        branch = stack.pop()
        for child in sorted(owned.get(uid_of(branch.manifest), ()), key=_order):
            if uid_of(child) not in seen:
                seen.add(uid_of(child))
                branch.children.append(Branch(child))
        stack += branch.children
    return top


def owner_uid(manifest: Manifest) -> str:
    """Returns the UID of the owner below which an object is shown; empty for one without owners."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    controller = next((reference for reference in references if reference.get("controller")), None)
    shown = controller or (references[0] if references else {})
    return str(shown.get("uid") or "")


def branches(top: Branch) -> Iterable[tuple[Branch, str]]:
    """Yields every branch in depth-first order, with the lines that are drawn before it."""
    waiting: list[tuple[Branch, str, str]] = [(top, "", "")]
    while waiting:
        branch, lead, below = waiting.pop()
        yield branch, lead
        waiting += reversed(list(branched(branch.children, below)))


def _order(manifest: Manifest) -> tuple[int, str, Sequence[tuple[int, str | int]]]:
    kind = str(manifest.get("kind"))
    place = KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER)
    return place, kind, _natural(str((manifest.get("metadata") or {}).get("name")))


def _natural(name: str) -> list[tuple[int, str | int]]:
    """Returns the sort key of a name by which `web-2` is before `web-10`."""
    return [(0, int(part)) if part.isascii() and part.isdecimal() else (1, part) for part in name.split("-")]
