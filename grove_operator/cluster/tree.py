"""Owners and what they own, read from live objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from applier.ref import Manifest, Ref, uid_of
from grove_compiler.record import record

KIND_ORDER = ("PodCliqueScalingGroup", "PodGang", "PodClique", "Pod")
"""What people look at first, and then all other kinds by name."""


@record
class Branch:
    """One object with what it owns."""

    manifest: Manifest
    children: list[Branch] = field(default_factory=list)

    @property
    def ref(self) -> Ref:
        return Ref.of(self.manifest)


def grow(root: Manifest, objects: Iterable[Manifest]) -> Branch:
    """Returns the tree below `root`, by the UIDs of owner references.

    An object of several owners hangs on its controller, or else on the first. Each object stands in the tree once, whatever the
    references say: a circle ends where it would close.
    """
    owned: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in objects:
        owner = owner_uid(manifest)
        if owner:
            owned[owner].append(manifest)
    seen = {uid_of(root)}
    top = Branch(root)
    waiting = [top]
    while waiting:
        branch = waiting.pop()
        for child in sorted(owned.get(uid_of(branch.manifest), ()), key=_order):
            if uid_of(child) not in seen:
                seen.add(uid_of(child))
                branch.children.append(Branch(child))
        waiting += branch.children
    return top


def owner_uid(manifest: Manifest) -> str:
    """Returns the UID of the owner under which an object is shown; empty for one that nobody owns."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    controller = next((reference for reference in references if reference.get("controller")), None)
    shown = controller or (references[0] if references else {})
    return str(shown.get("uid") or "")


def branches(top: Branch) -> Iterable[tuple[Branch, str]]:
    """Yields every branch from top to bottom, with the lines that lead to it, as trees in terminals have them."""
    waiting: list[tuple[Branch, str, str]] = [(top, "", "")]
    while waiting:
        branch, lead, below = waiting.pop()
        yield branch, lead
        last = len(branch.children) - 1
        waiting += [
            (child, below + ("└─ " if position == last else "├─ "), below + ("   " if position == last else "│  "))
            for position, child in reversed(list(enumerate(branch.children)))
        ]


def count(top: Branch, holds: Callable[[Manifest], bool]) -> tuple[int, int]:
    """Returns how many objects below and with the top there are, and of how many `holds` is true."""
    found = [holds(branch.manifest) for branch, _ in branches(top)]
    return len(found), sum(found)


def _order(manifest: Manifest) -> tuple[int, str, Sequence[tuple[int, str | int]]]:
    kind = str(manifest.get("kind"))
    place = KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER)
    return place, kind, _natural(str((manifest.get("metadata") or {}).get("name")))


def _natural(name: str) -> list[tuple[int, str | int]]:
    """Returns names with their numbers as numbers: `web-2` before `web-10`."""
    return [(0, int(part)) if part.isascii() and part.isdecimal() else (1, part) for part in name.split("-")]
