"""Formats the reasons in a plan: which fields differ and who changed them, which managers conflict, and how to resolve it."""

from __future__ import annotations

from collections.abc import Sequence

from applier.outcome import ABSENT, Conflict, FieldChange, Owner, Path, dotted
from applier.ref import Manifest
from kube_objects.words import listed

BY_FORCE = "(force)"
"""The parameter that forces an apply, by its name in this API. A program with an option for it replaces this text."""

RESOLUTIONS = f"take it {BY_FORCE}, drop it (remove it from the manifest), or share it (use the same value)"


def who(owner: Owner) -> str:
    """Formats an owner as in `kubectl-edit (Update at 2026-01-01T00:00:00Z)`."""
    through = f" of {owner.subresource}" if owner.subresource else ""
    when = f" at {owner.time}" if owner.time else ""
    return f"{owner.manager} ({owner.operation}{through}{when})"


def what_differs(changes: Sequence[FieldChange]) -> str:
    """Returns a sentence on the fields that differ, and on the managers that own them now."""
    if not changes:
        return "only the ownership of its fields changes"
    fields = listed(dotted(change.path) for change in changes)
    drifted = listed(dict.fromkeys(who(owner) for change in changes if change.old is not ABSENT for owner in change.owners))
    return fields + (f"; last set by {drifted}" if drifted else "")


def what_conflicts(conflicts: Sequence[Conflict]) -> str:
    """Returns a sentence on the conflicting fields, their owners, and the three ways to resolve the conflict."""
    by_owner: dict[str, list[str]] = {}
    for conflict in conflicts:
        by_owner.setdefault(who(conflict.owner), []).append(dotted(conflict.path))
    owned = "; ".join(f"{owner} owns {listed(paths)}" for owner, paths in by_owner.items())
    return f"{owned} with another value: {RESOLUTIONS}"


def which_set(applyset_id: str) -> str:
    """Returns a sentence on an object's membership in the ApplySet with this id, and on how to resolve it."""
    return f"is a member of another ApplySet ({applyset_id}): move it {BY_FORCE}, or leave it there"


def what_is_fixed(paths: Sequence[Path]) -> str:
    """Returns a sentence on the fields that cannot be changed in place."""
    return f"{listed(map(dotted, paths))} cannot be changed once set"


RECREATE = "it would have to be recreated, which its policy does not allow (recreate)"


def manager_names(live: Manifest) -> str:
    """Returns the managers of an object's fields, each once."""
    managers = (str(entry.get("manager")) for entry in (live.get("metadata") or {}).get("managedFields") or ())
    return listed(dict.fromkeys(managers)) or "somebody else"
