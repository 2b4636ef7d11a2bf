"""Owner references: the UID of an owner, filled in as soon as it is known."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest, Ref


def names(entry: dict[str, Any], owner: Ref) -> bool:
    """Says whether an entry of `metadata.ownerReferences` names this object; its UID aside."""
    group = str(entry.get("apiVersion", "")).rpartition("/")[0]
    return entry.get("name") == owner.name and entry.get("kind") == owner.kind and group == owner.group


def with_owner(manifest: Manifest, owner: Ref, uid: str) -> Manifest:
    """The manifest with the UID in the entries that name the owner; the same manifest when they have it already.

    Only the path to the entries is copied.
    """
    metadata = manifest["metadata"]
    entries = metadata.get("ownerReferences") or ()
    if all(entry.get("uid") == uid for entry in entries if names(entry, owner)):
        return manifest
    filled = [{**entry, "uid": uid} if names(entry, owner) else entry for entry in entries]
    return {**manifest, "metadata": {**metadata, "ownerReferences": filled}}


def refers_to(manifest: Manifest, owner: Ref) -> bool:
    """Says whether the object has an owner reference to this owner, that is, whether it needs its UID."""
    return any(names(entry, owner) for entry in manifest["metadata"].get("ownerReferences") or ())
