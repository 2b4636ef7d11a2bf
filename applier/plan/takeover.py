"""Who owns what, moved: from client-side apply and from other managers to ours, and off versions that are no longer served.

A field that two managers own stays when one of them gives it up. Whoever moves from `kubectl apply` to server-side apply would
therefore never get rid of a field again; kubectl itself does what is done here (client-go's csaupgrade), and for the same reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from applier.ref import Manifest

CLIENT_SIDE = ("kubectl-client-side-apply",)
"""The manager under which client-side apply records what it sets. Others that own its annotation count as it."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

Entry = dict[str, Any]


def entries_of(live: Manifest) -> list[Entry]:
    """`metadata.managedFields` of a live object; empty where it has none."""
    return (live.get("metadata") or {}).get("managedFields") or []


def applied_by(live: Manifest, manager: str) -> bool:
    """Says whether the object is ours: this manager has applied it, or made it."""
    return any(entry.get("manager") == manager and not entry.get("subresource") for entry in entries_of(live))


def others_in(live: Manifest, manager: str, managers: Sequence[str]) -> list[str]:
    """The managers, among those to be taken over, that own something here; our own updates count as one.

    An object made by a plain create under our name has an Update entry of ours. Its fields would outlive our giving them up, like
    those of client-side apply.
    """
    return [str(entry["manager"]) for entry in entries_of(live) if _is_taken(entry, manager, managers)]


def _is_taken(entry: Entry, manager: str, managers: Sequence[str]) -> bool:
    if entry.get("subresource"):
        return False
    name, updates = entry.get("manager"), entry.get("operation") == "Update"
    if name == manager:
        return updates
    return name in managers or (updates and CLIENT_SIDE[0] in managers and _owns_last_applied(entry))


def _owns_last_applied(entry: Entry) -> bool:
    annotations = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:annotations") or {}
    return f"f:{LAST_APPLIED}" in annotations


def taken_over(live: Manifest, manager: str, managers: Sequence[str]) -> Manifest:
    """The live object as if this manager had applied what those managers set; the same object when there is nothing to take."""
    entries = entries_of(live)
    taken = [entry for entry in entries if _is_taken(entry, manager, managers)]
    if not taken:
        return live
    ours = [entry for entry in entries if entry.get("manager") == manager and entry not in taken and not entry.get("subresource")]
    base = (ours or taken)[0]
    fields: dict[str, Any] = {}
    for entry in (*ours, *taken):
        fields = union(fields, entry.get("fieldsV1") or {})
    merged = {**base, "manager": manager, "operation": "Apply", "fieldsV1": fields}
    gone = {id(entry) for entry in (*ours, *taken)}
    kept = [entry for entry in entries if id(entry) not in gone]
    return with_entries(live, [merged, *kept])


def repaired(live: Manifest, served: Collection[str], api_version: str) -> Manifest:
    """The live object with every entry of a version that is no longer served moved to `api_version`; the same when all are served.

    The server cannot convert such an entry and refuses every apply of the object from then on.
    """
    entries = entries_of(live)
    if all(entry.get("apiVersion") in served for entry in entries):
        return live
    return with_entries(live, [entry if entry.get("apiVersion") in served else {**entry, "apiVersion": api_version} for entry in entries])


def with_entries(live: Manifest, entries: list[Entry]) -> Manifest:
    """The live object with other managedFields; nothing else is copied."""
    return {**live, "metadata": {**live["metadata"], "managedFields": entries}}


def ownership_patch(before: Manifest, after: Manifest) -> list[dict[str, Any]]:
    """A JSON patch (RFC 6902) from one ownership to the other, which fails when the object has changed in between."""
    return [
        {"op": "test", "path": "/metadata/uid", "value": before["metadata"]["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries_of(after)},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": before["metadata"]["resourceVersion"]},
    ]


def union(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """All fields of two sets in the FieldsV1 format, in which a set is a map of maps."""
    if not first or not second:
        return first or second
    both = {key: union(value, second[key]) if key in second else value for key, value in first.items()}
    return {**both, **{key: value for key, value in second.items() if key not in first}}
