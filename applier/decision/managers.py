"""Who owns which fields: the entries of `metadata.managedFields`, read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from applier.decision.fields import Fields, find, is_member, step_of
from applier.outcome import Owner, Path
from applier.ref import Manifest


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
    """The identity of whoever applies under this name, to the object itself or to a subresource."""
    return Identity(manager, "Apply", subresource)


def managers_of(live: Manifest) -> Managers:
    """All managers of an object. Raises `BadManagedFields`."""
    found: Managers = {}
    for entry in (live.get("metadata") or {}).get("managedFields") or ():
        operation, version = entry.get("operation"), entry.get("apiVersion")
        if operation not in ("Apply", "Update") or not version or entry.get("fieldsType") != "FieldsV1":
            raise BadManagedFields("an entry without operation, API version or FieldsV1")
        identity = Identity(entry.get("manager") or "", operation, entry.get("subresource") or "", version if operation == "Update" else "")
        found[identity] = Entry(entry.get("fieldsV1") or {}, version, entry.get("time") or "")
    return found


def recorded_twice(live: Manifest) -> bool:
    """Whether a manager has two entries, as a server leaves them after a scale; it keeps the last of them on the next write."""
    entries = (live.get("metadata") or {}).get("managedFields") or ()
    return len(entries) > 1 and len({_name_of(entry) for entry in entries}) != len(entries)


def _name_of(entry: dict[str, Any]) -> tuple[Any, ...]:
    operation = entry.get("operation")
    return entry.get("manager"), operation, entry.get("subresource"), entry.get("apiVersion") if operation == "Update" else ""


def written(managers: Managers) -> list[dict[str, Any]]:
    """`managedFields` as the server stores them: in its order, and empty where there is no manager."""
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
    """A manager as it is reported."""
    return Owner(identity.manager, identity.operation, entry.time, identity.subresource)


def owners_at(live: Manifest, path: Path) -> tuple[Owner, ...]:
    """Who owns a field, or something above it as a whole. Entries that cannot be read own nothing."""
    try:
        managers = managers_of(live)
    except BadManagedFields:
        return ()
    return tuple(owners_among(managers, tuple(step_of(element) for element in path)))


def owners_among(managers: Managers, steps: tuple[str, ...], *, besides: Identity | None = None) -> Iterator[Owner]:
    """The owners of a place, or of an atomic field that it is part of, other than one."""
    for identity, entry in managers.items():
        if identity != besides and owns(entry.fields, steps):
            yield owner_of(identity, entry)


def owns(fields: Fields, steps: tuple[str, ...]) -> bool:
    """Whether a set has a path, something below it, or an atomic field above it."""
    node = fields
    for step in steps:
        below = node.get(step)
        if below is None:
            return False
        if not below:
            return True
        node = below
    return True


def has(fields: Fields, steps: tuple[str, ...]) -> bool:
    """Whether exactly this path is in a set."""
    node = find(fields, steps)
    return node is not None and is_member(node)
