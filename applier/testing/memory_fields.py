"""Who owns which field in a cluster in memory: server-side apply for kinds without a schema.

Maps are merged, lists are one value, as structured-merge-diff treats what no schema describes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from applier.errors import Cause, FieldConflict
from applier.ref import Manifest
from applier.testing.memory_store import copied

Leaf = tuple[str, ...]
IDENTITY = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace"))
SERVERS = frozenset({"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields", "selfLink"})


def leaves(value: Any, at: Leaf = ()) -> set[Leaf]:
    """The paths of everything that is no map with something in it, but for what names the object or is the server's."""
    if isinstance(value, dict) and value:
        skipped = SERVERS if at == ("metadata",) else ()
        return {leaf for key, item in value.items() if key not in skipped for leaf in leaves(item, (*at, key))} - set(IDENTITY)
    return {at}


def fields_of(paths: Iterable[Leaf]) -> dict[str, Any]:
    """FieldsV1 of some leaves."""
    fields: dict[str, Any] = {}
    for path in sorted(paths):
        at = fields
        for key in path:
            at = at.setdefault(f"f:{key}", {})
    return fields


def paths_of(fields: dict[str, Any], at: Leaf = ()) -> set[Leaf]:
    """The leaves of FieldsV1. Items of lists count as their list, which is one value here."""
    named = {key: inner for key, inner in fields.items() if key.startswith("f:")}
    if not named:
        return {at}
    return {path for key, inner in named.items() for path in paths_of(inner, (*at, key[2:]))}


class Owned:
    """The managedFields of one object, to be changed."""

    def __init__(self, live: Manifest | None) -> None:
        entries = ((live or {}).get("metadata") or {}).get("managedFields") or []
        self.sets = {_key(entry): paths_of(entry.get("fieldsV1") or {}) - {()} for entry in entries}
        self.entries = {_key(entry): entry for entry in entries}

    def take(self, key: Leaf, paths: set[Leaf], *, only: bool) -> None:
        """Gives fields to a manager: to it only, or to it as well."""
        for other, held in self.sets.items():
            if only and other != key:
                held -= paths
        self.sets[key] = set(paths)

    def written(self, api_version: str, now: str) -> list[dict[str, Any]]:
        """managedFields as they are stored. An entry whose fields stay keeps its time."""
        return [self._entry(key, paths, api_version, now) for key, paths in self.sets.items() if paths]

    def _entry(self, key: Leaf, paths: set[Leaf], api_version: str, now: str) -> dict[str, Any]:
        before, fields = self.entries.get(key), fields_of(paths)
        if before and before.get("fieldsV1") == fields:
            return dict(before)
        manager, operation, subresource = key
        entry = {"manager": manager, "operation": operation, "apiVersion": api_version, "time": now, "fieldsType": "FieldsV1"}
        return {**entry, "fieldsV1": fields, **({"subresource": subresource} if subresource else {})}


def _key(entry: dict[str, Any]) -> Leaf:
    return (str(entry.get("manager", "")), str(entry.get("operation", "")), str(entry.get("subresource", "")))


def applied(manifest: Manifest, live: Manifest | None, *, manager: str, force: bool, now: str) -> Manifest:
    """A new object: `live` after a server-side apply. Raises `FieldConflict`."""
    owned, key = Owned(live), (manager, "Apply", "")
    ours, before = leaves(manifest), owned.sets.get(key, set())
    result = copied(live) if live else {}
    taken = _differing(manifest, live, ours, owned, key, force)
    owned.take(key, ours, only=False)
    for other, held in owned.sets.items():
        if other != key:
            held -= taken
    kept = set().union(*owned.sets.values())
    for path in before - ours:
        if path not in kept:
            _drop(result, path)
    _merge(result, manifest)
    result.setdefault("metadata", {})["managedFields"] = owned.written(manifest["apiVersion"], now)
    return result


def updated(new: Manifest, old: Manifest | None, *, manager: str, subresource: str, now: str) -> Manifest:
    """`new` with the fields that differ from `old` owned by who wrote them."""
    owned, key = Owned(old), (manager, "Update", subresource)
    there, before = leaves(new), leaves(old) if old else set()
    changed = {path for path in there if path not in before or _value(new, path) != _value(old, path)}
    for held in owned.sets.values():
        held -= before - there
    owned.take(key, owned.sets.get(key, set()) | changed, only=True)
    new.setdefault("metadata", {})["managedFields"] = owned.written(new["apiVersion"], now)
    return new


def _differing(manifest: Manifest, live: Manifest | None, ours: set[Leaf], owned: Owned, key: Leaf, force: bool) -> set[Leaf]:
    """Our fields that others own with another value. Raises `FieldConflict` unless they may be taken."""
    found = [
        (path, other[0])
        for other, held in owned.sets.items()
        for path in sorted(held & ours)
        if other != key and _value(manifest, path) != _value(live, path)
    ]
    if found and not force:
        causes = tuple(Cause("FieldManagerConflict", "." + ".".join(path), f'conflict with "{other}"') for path, other in found)
        plural = "conflict" if len(found) == 1 else "conflicts"
        said = "; ".join(f"{cause.message}: {cause.field}" for cause in causes)
        raise FieldConflict(409, "Conflict", f"Apply failed with {len(found)} {plural}: {said}", causes)
    return {path for path, _ in found}


def _value(manifest: Manifest | None, path: Leaf) -> Any:
    value: Any = manifest
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _drop(manifest: Manifest, path: Leaf) -> None:
    parents: list[tuple[dict[str, Any], str]] = []
    at: Any = manifest
    for key in path:
        if not isinstance(at, dict) or key not in at:
            return
        parents.append((at, key))
        at = at[key]
    for parent, key in reversed(parents):
        del parent[key]
        if parent:
            return


def _merge(into: dict[str, Any], manifest: dict[str, Any]) -> None:
    for key, value in manifest.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = copied(value)
