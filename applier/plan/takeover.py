"""Whose ownership becomes ours: that of client-side apply, of managers named by people, and of our own plain writes.

A field that two managers own stays when one of them gives it up. Whoever moves from `kubectl apply` to server-side apply would
therefore never get rid of a field again; kubectl itself does what is done here (client-go's csaupgrade), and for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from applier.decision import take_over
from applier.decision.repairing import CLIENT_SIDE_APPLY
from applier.decision.secret_values import LAST_APPLIED
from applier.ref import Manifest

CLIENT_SIDE = CLIENT_SIDE_APPLY
"""Managers under which client-side apply records what it sets. Others that own its annotation count as them."""

Entry = dict[str, Any]
Patch = list[dict[str, Any]]


def entries_of(live: Manifest) -> list[Entry]:
    """`metadata.managedFields` of a live object; empty where it has none."""
    return (live.get("metadata") or {}).get("managedFields") or []


def applied_by(live: Manifest, manager: str) -> bool:
    """Says whether the object is ours: this manager has applied it, or made it."""
    return any(entry.get("manager") == manager and not entry.get("subresource") for entry in entries_of(live))


def others_in(live: Manifest, manager: str, managers: Sequence[str]) -> list[str]:
    """The managers to take over from that own something of this object, each once.

    Our own updates count: an object made by a plain create under our name has an Update entry of ours, whose fields would outlive our
    giving them up like those of client-side apply, and conflict with ourselves (kubernetes#107417).
    """
    return list(dict.fromkeys(str(entry["manager"]) for entry in entries_of(live) if _is_taken(entry, manager, managers)))


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


def ownership_patch(live: Manifest, manager: str, managers: Sequence[str]) -> Patch:
    """The JSON patch that makes it ours, on this version of the object only; empty when there is nothing to take."""
    others = others_in(live, manager, managers)
    return take_over(live, others, manager) if others else []


def taken_over(live: Manifest, patch: Patch) -> Manifest:
    """The live object as it is after that patch; the same object when there is none. Parts are shared."""
    if not patch:
        return live
    metadata = dict(live["metadata"])
    for operation in patch:
        if operation["op"] == "replace":
            metadata["managedFields"] = operation["value"]
        elif operation["op"] == "remove":
            metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED}
    return {**live, "metadata": metadata}
