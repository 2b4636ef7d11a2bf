"""Reads and writes `metadata.managedFields`, and builds the patches that repair it or take over the fields of other managers.

A field that two managers own stays when one of them stops applying it. After a move from `kubectl apply` to server-side apply a field
could therefore never be removed again, unless the old manager's entry is taken over; client-go's `csaupgrade` does the same for kubectl.
Each patch is a JSON patch (RFC 6902) that first tests the resource version it was made for, so that it cannot undo a concurrent write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from applier.decision.fields import Fields, difference, step_of, union
from applier.outcome import Owner, Path
from applier.ref import Manifest, resource_version_of
from kube_objects import json_pointer
from kube_objects.manifest import LAST_APPLIED


class Identity(NamedTuple):
    """Identifies an entry of managedFields. `version` is set for updates only: a manager has one Apply entry, whatever version it uses."""

    manager: str
    operation: str
    subresource: str = ""
    version: str = ""


class ManagedFieldsEntry(NamedTuple):
    """Holds the fields that one manager owns, named as in one API version, and when it last changed them (RFC 3339)."""

    fields: Fields
    version: str
    time: str = ""


Managers = dict[Identity, ManagedFieldsEntry]


class BadManagedFields(ValueError):
    """Reports managedFields that the server itself could not parse."""


def apply_identity(manager: str, subresource: str = "") -> Identity:
    """Returns the identity of a manager that applies, to the object itself or to a subresource."""
    return Identity(manager, "Apply", subresource)


def managers_of(live: Manifest) -> Managers:
    """Parses the managedFields of an object. Raises `BadManagedFields`."""
    managers: Managers = {}
    for entry in entries_of(live):
        version = entry.get("apiVersion")
        if entry.get("operation") not in ("Apply", "Update") or not version or entry.get("fieldsType") != "FieldsV1":
            raise BadManagedFields("an entry without operation, API version or FieldsV1")
        managers[_identity_of(entry)] = ManagedFieldsEntry(entry.get("fieldsV1") or {}, version, entry.get("time") or "")
    return managers


def has_duplicate_entries(live: Manifest) -> bool:
    """Reports whether a manager has two entries, as after a write to `scale`; the server drops all but the last with the next write."""
    entries = entries_of(live)
    return len(entries) > 1 and len({_identity_of(entry) for entry in entries}) != len(entries)


def _identity_of(entry: dict[str, Any]) -> Identity:
    operation = entry.get("operation") or ""
    version = (entry.get("apiVersion") or "") if operation == "Update" else ""
    return Identity(entry.get("manager") or "", operation, entry.get("subresource") or "", version)


def to_managed_fields(managers: Managers) -> list[dict[str, Any]]:
    """Returns `metadata.managedFields` as the server stores it: in its order, and empty without managers."""
    items = []
    for identity, entry in sorted(managers.items(), key=_sort_key):
        item: dict[str, Any] = {"manager": identity.manager, "operation": identity.operation, "apiVersion": entry.version}
        if entry.time:
            item["time"] = entry.time
        item |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields}
        if identity.subresource:
            item["subresource"] = identity.subresource
        items.append(item)
    return items


def _sort_key(managed: tuple[Identity, ManagedFieldsEntry]) -> tuple[str, ...]:
    identity, entry = managed
    return identity.operation, entry.time, identity.manager, entry.version, identity.subresource


def owner_of(identity: Identity, entry: ManagedFieldsEntry) -> Owner:
    """Converts an entry to the form in which owners are reported."""
    return Owner(identity.manager, identity.operation, entry.time, identity.subresource)


def owners_at(live: Manifest, path: Path) -> tuple[Owner, ...]:
    """Returns the owners of a field, or of an atomic field around it. Unparsable managedFields count as none."""
    try:
        managers = managers_of(live)
    except BadManagedFields:
        return ()
    return tuple(owners_among(managers, tuple(step_of(element) for element in path)))


def owners_among(managers: Managers, steps: tuple[str, ...], *, besides: Identity | None = None) -> Iterator[Owner]:
    """Yields the owners of a field, or of an atomic field around it, except for the manager `besides`."""
    for identity, entry in managers.items():
        if identity != besides and owns(entry.fields, steps):
            yield owner_of(identity, entry)


def owns(fields: Fields, steps: tuple[str, ...]) -> bool:
    """Reports whether a set has a path, a path below it, or an atomic field above it."""
    node = fields
    for step in steps:
        below = node.get(step)
        if below is None:
            return False
        if not below:
            return True
        node = below
    return True


Patch = list[dict[str, Any]]
CLIENT_SIDE = ("kubectl-client-side-apply", "kubectl-last-applied")
"""Managers under which client-side apply records its fields. Any manager that owns its annotation counts as one."""
_LAST_APPLIED_FIELDS: Fields = {"f:metadata": {"f:annotations": {"f:" + LAST_APPLIED: {}}}}


def rewrite_old_versions(live: Manifest, served: Collection[str]) -> Patch:
    """Returns the patch that moves entries in API versions no longer served to the version the object was read in; empty if there are none.

    `served` holds `apiVersion`s such as `apps/v1`. The server would drop such entries on the next apply, and their ownership would be
    lost. Field names stay those of the old version.
    """
    managers = managers_of(live)
    current = str(live.get("apiVersion", ""))
    if all(entry.version in served for entry in managers.values()):
        return []
    rewritten: Managers = {}
    for identity, entry in managers.items():
        version = entry.version if entry.version in served else current
        key = identity._replace(version=version) if identity.version else identity
        _join(rewritten, key, entry._replace(version=version))
    return _patch(live, rewritten)


def take_over(live: Manifest, from_managers: Collection[str], to_manager: str) -> Patch:
    """Returns the patch that makes us the owner of what other managers own of the object itself, so that an apply can remove it.

    Entries of subresources stay, since controllers own those. Taking over from a client-side apply also removes its annotation, as
    `kubectl apply --server-side` does. Empty if none of the managers owns anything.
    """
    managers = managers_of(live)
    ours = apply_identity(to_manager)
    taken = {identity for identity in managers if identity != ours and not identity.subresource and identity.manager in from_managers}
    if not taken:
        return []
    client_side = any(identity.manager in CLIENT_SIDE for identity in taken)
    annotated = LAST_APPLIED in ((live.get("metadata") or {}).get("annotations") or {})
    result = {identity: entry for identity, entry in managers.items() if identity not in taken}
    version = str(live.get("apiVersion", ""))
    for identity in taken:
        entry = managers[identity]
        fields = difference(entry.fields, _LAST_APPLIED_FIELDS) if client_side else entry.fields
        _join(result, ours, ManagedFieldsEntry(fields, result[ours].version if ours in result else version, entry.time))
    return _patch(live, result, drop_annotation=client_side and annotated)


def _join(managers: Managers, identity: Identity, entry: ManagedFieldsEntry) -> None:
    """Adds an entry in place; merges it with one of the same identity, keeping the later time."""
    existing = managers.get(identity)
    if existing is not None:
        entry = ManagedFieldsEntry(union(existing.fields, entry.fields), existing.version, max(existing.time, entry.time))
    managers[identity] = entry


def _patch(live: Manifest, managers: Managers, *, drop_annotation: bool = False) -> Patch:
    patch: Patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": resource_version_of(live)},
        {"op": "replace", "path": "/metadata/managedFields", "value": to_managed_fields(managers)},
    ]
    if drop_annotation:
        patch.append({"op": "remove", "path": json_pointer.join(("metadata", "annotations", LAST_APPLIED))})
    return patch


def entries_of(live: Manifest) -> list[dict[str, Any]]:
    """Returns `metadata.managedFields` of a live object; empty if it has none."""
    return (live.get("metadata") or {}).get("managedFields") or []


def applied_by(live: Manifest, manager: str) -> bool:
    """Reports whether this manager has applied or created the object."""
    return any(entry.get("manager") == manager and not entry.get("subresource") for entry in entries_of(live))


def managers_to_take_over(live: Manifest, manager: str, managers: Sequence[str]) -> list[str]:
    """Returns the names of those managers of this object whose fields are to be taken over, each once.

    Our own Update entry, which a plain create under our name leaves, is one of them: like those of client-side apply, its fields would
    stay after we stop applying them, and our apply would conflict with it (kubernetes#107417).
    """
    return list(dict.fromkeys(str(entry["manager"]) for entry in entries_of(live) if _is_to_take_over(entry, manager, managers)))


def _is_to_take_over(entry: dict[str, Any], manager: str, managers: Sequence[str]) -> bool:
    if entry.get("subresource"):
        return False
    name, updates = entry.get("manager"), entry.get("operation") == "Update"
    if name == manager:
        return updates
    return name in managers or (updates and CLIENT_SIDE[0] in managers and _owns_last_applied(entry))


def _owns_last_applied(entry: dict[str, Any]) -> bool:
    annotations = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:annotations") or {}
    return f"f:{LAST_APPLIED}" in annotations


def ownership_patch(live: Manifest, manager: str, managers: Sequence[str]) -> Patch:
    """Returns the JSON patch that takes over from these managers, on this version of the object only; empty if none owns anything."""
    others = managers_to_take_over(live, manager, managers)
    return take_over(live, others, manager) if others else []


def after_takeover(live: Manifest, patch: Patch) -> Manifest:
    """Returns the live object after an `ownership_patch`; the same object if that is empty. The two share parts."""
    if not patch:
        return live
    metadata = dict(live["metadata"])
    for operation in patch:
        if operation["op"] == "replace":
            metadata["managedFields"] = operation["value"]
        elif operation["op"] == "remove":
            annotations = {key: value for key, value in metadata.pop("annotations").items() if key != LAST_APPLIED}
            metadata |= {"annotations": annotations} if annotations else {}
    return {**live, "metadata": metadata}
