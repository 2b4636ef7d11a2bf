"""Who owns which fields: the entries of `metadata.managedFields`, read, written, set right and taken over.

A field that two managers own stays when one of them gives it up. Whoever moves from `kubectl apply` to server-side apply would
therefore never get rid of a field again; kubectl itself does what is done here (client-go's csaupgrade), and for the same reason.
Each patch is a JSON patch (RFC 6902) that first tests the resource version it was made for, so that it never undoes what came in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from applier.decision.fields import Fields, difference, step_of, union
from applier.outcome import Owner, Path
from applier.ref import Manifest, resource_version_of


class Identity(NamedTuple):
    """What tells managers apart. `version` counts only for updates: a manager that applies has one entry, whatever version it uses."""

    manager: str
    operation: str
    subresource: str = ""
    version: str = ""


class Entry(NamedTuple):
    """The fields of one manager, in the names of one API version, and when it last changed them."""

    fields: Fields
    version: str
    time: str = ""


Managers = dict[Identity, Entry]


class BadManagedFields(ValueError):
    """Entries that the server itself could not read."""


def applier_of(manager: str, subresource: str = "") -> Identity:
    """Returns the identity of whoever applies under this name, to the object itself or to a subresource."""
    return Identity(manager, "Apply", subresource)


def managers_of(live: Manifest) -> Managers:
    """Returns all managers of an object. Raises `BadManagedFields`."""
    managers: Managers = {}
    for entry in entries_of(live):
        version = entry.get("apiVersion")
        if entry.get("operation") not in ("Apply", "Update") or not version or entry.get("fieldsType") != "FieldsV1":
            raise BadManagedFields("an entry without operation, API version or FieldsV1")
        managers[_identity_of(entry)] = Entry(entry.get("fieldsV1") or {}, version, entry.get("time") or "")
    return managers


def recorded_twice(live: Manifest) -> bool:
    """Tells whether a manager has two entries, as a server leaves them after a scale; it keeps the last of them on the next write."""
    entries = entries_of(live)
    return len(entries) > 1 and len({_identity_of(entry) for entry in entries}) != len(entries)


def _identity_of(entry: dict[str, Any]) -> Identity:
    operation = entry.get("operation") or ""
    version = (entry.get("apiVersion") or "") if operation == "Update" else ""
    return Identity(entry.get("manager") or "", operation, entry.get("subresource") or "", version)


def written(managers: Managers) -> list[dict[str, Any]]:
    """Returns `managedFields` as the server stores them: in its order, and empty where there is no manager."""
    entries = []
    for identity, entry in sorted(managers.items(), key=_rank):
        written: dict[str, Any] = {"manager": identity.manager, "operation": identity.operation, "apiVersion": entry.version}
        if entry.time:
            written["time"] = entry.time
        written |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields}
        if identity.subresource:
            written["subresource"] = identity.subresource
        entries.append(written)
    return entries


def _rank(one: tuple[Identity, Entry]) -> tuple[str, ...]:
    identity, entry = one
    return identity.operation, entry.time, identity.manager, entry.version, identity.subresource


def owner_of(identity: Identity, entry: Entry) -> Owner:
    """Returns a manager as it is reported."""
    return Owner(identity.manager, identity.operation, entry.time, identity.subresource)


def owners_at(live: Manifest, path: Path) -> tuple[Owner, ...]:
    """Returns who owns a field, or something above it as a whole. Entries that cannot be read own nothing."""
    try:
        managers = managers_of(live)
    except BadManagedFields:
        return ()
    return tuple(owners_among(managers, tuple(step_of(element) for element in path)))


def owners_among(managers: Managers, steps: tuple[str, ...], *, besides: Identity | None = None) -> Iterator[Owner]:
    """Yields the owners of a place, or of an atomic field that it is part of, other than one."""
    for identity, entry in managers.items():
        if identity != besides and owns(entry.fields, steps):
            yield owner_of(identity, entry)


def owns(fields: Fields, steps: tuple[str, ...]) -> bool:
    """Tells whether a set has a path, something below it, or an atomic field above it."""
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
"""Managers under which client-side apply records what it sets. Others that own its annotation count as them."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ANNOTATIONS = "/metadata/annotations/"
_LAST_APPLIED_FIELDS: Fields = {"f:metadata": {"f:annotations": {"f:" + LAST_APPLIED: {}}}}


def old_versions(live: Manifest, served: Collection[str]) -> Patch:
    """Rewrites entries in API versions that are no longer served to the one that the object was read in.

    `served` holds `apiVersion`s such as `apps/v1`. Left alone, the server drops such entries on the next apply, and with them the memory
    of who owned what. Field names are kept: they are those of the old version. Empty when there is nothing to do.
    """
    managers = managers_of(live)
    now = str(live.get("apiVersion", ""))
    if all(entry.version in served for entry in managers.values()):
        return []
    rewritten: Managers = {}
    for identity, entry in managers.items():
        version = entry.version if entry.version in served else now
        key = identity._replace(version=version) if identity.version else identity
        _join(rewritten, key, entry._replace(version=version))
    return _patch(live, rewritten)


def take_over(live: Manifest, from_managers: Collection[str], to_manager: str) -> Patch:
    """Moves what other managers own of the object itself to us, so that fields which we no longer send are removed as theirs would be.

    Entries of subresources stay: they are controllers'. When a client-side apply is taken over, its annotation goes too, as
    `kubectl apply --server-side` does. Empty when none of the managers owns anything.
    """
    managers = managers_of(live)
    ours = applier_of(to_manager)
    taken = {one for one in managers if one != ours and not one.subresource and one.manager in from_managers}
    if not taken:
        return []
    client_side = any(one.manager in CLIENT_SIDE for one in taken)
    annotated = LAST_APPLIED in ((live.get("metadata") or {}).get("annotations") or {})
    kept = {identity: entry for identity, entry in managers.items() if identity not in taken}
    version = str(live.get("apiVersion", ""))
    for identity in taken:
        entry = managers[identity]
        fields = difference(entry.fields, _LAST_APPLIED_FIELDS) if client_side else entry.fields
        _join(kept, ours, Entry(fields, kept[ours].version if ours in kept else version, entry.time))
    return _patch(live, kept, drop_annotation=client_side and annotated)


def _join(managers: Managers, identity: Identity, entry: Entry) -> None:
    """Adds an entry; two of one identity become one, with the later time."""
    there = managers.get(identity)
    if there is not None:
        entry = Entry(union(there.fields, entry.fields), there.version, max(there.time, entry.time))
    managers[identity] = entry


def _patch(live: Manifest, managers: Managers, *, drop_annotation: bool = False) -> Patch:
    patch: Patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": resource_version_of(live)},
        {"op": "replace", "path": "/metadata/managedFields", "value": written(managers)},
    ]
    if drop_annotation:
        patch.append({"op": "remove", "path": _ANNOTATIONS + LAST_APPLIED.replace("~", "~0").replace("/", "~1")})
    return patch


def entries_of(live: Manifest) -> list[dict[str, Any]]:
    """Returns `metadata.managedFields` of a live object; empty where it has none."""
    return (live.get("metadata") or {}).get("managedFields") or []


def applied_by(live: Manifest, manager: str) -> bool:
    """Says whether the object is ours: this manager has applied it, or made it."""
    return any(entry.get("manager") == manager and not entry.get("subresource") for entry in entries_of(live))


def others_in(live: Manifest, manager: str, managers: Sequence[str]) -> list[str]:
    """Returns the managers to take over from that own something of this object, each once.

    Our own updates count: an object made by a plain create under our name has an Update entry of ours, whose fields would outlive our
    giving them up like those of client-side apply, and conflict with ourselves (kubernetes#107417).
    """
    return list(dict.fromkeys(str(entry["manager"]) for entry in entries_of(live) if _is_taken(entry, manager, managers)))


def _is_taken(entry: dict[str, Any], manager: str, managers: Sequence[str]) -> bool:
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
    """Returns the JSON patch that makes it ours, on this version of the object only; empty when there is nothing to take."""
    others = others_in(live, manager, managers)
    return take_over(live, others, manager) if others else []


def taken_over(live: Manifest, patch: Patch) -> Manifest:
    """Returns the live object as it is after that patch; the same object when there is none. Parts are shared."""
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
