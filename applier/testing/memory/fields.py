"""Tracks field ownership in a cluster in memory. Kinds without a schema merge by structured-merge-diff's deduced type: lists are atomic."""

from __future__ import annotations

from applier.cluster import Resource
from applier.decision import Type, merged
from applier.decision.fields import NEVER_OWNED, difference, union
from applier.decision.managers import Identity, ManagedFieldsEntry, Managers, managers_of, to_managed_fields
from applier.decision.merge_result import stored
from applier.decision.schema import TypeTable
from applier.decision.server_side_apply import compare
from applier.ref import Manifest
from kube_objects.manifest import without_managed_fields

DEDUCED = TypeTable({}, {}).named("*deduced")


def applied(
    manifest: Manifest, live: Manifest | None, schema: Type | None, *, manager: str, subresource: str, force: bool, now: str
) -> Manifest:
    """Returns `live` after a server-side apply, as a new object with parts of both. Raises `FieldConflict` and `Invalid`."""
    known = schema or DEDUCED
    if subresource:
        known = known.with_status()
    return _fresh(merged(manifest, live, known, manager=manager, force=force, now=now, subresource=subresource))


def _fresh(manifest: Manifest) -> Manifest:
    """Returns an object whose own and whose metadata's fields may be set. All else is copied once it is stored."""
    return {**manifest, "metadata": {**(manifest.get("metadata") or {})}}


def half(manifest: Manifest, resource: Resource, subresource: str) -> Manifest:
    """Returns the part of a manifest that an endpoint writes: the status alone, or everything but a status that is a subresource."""
    if subresource:
        taken = ("name", "namespace", "uid", "resourceVersion")
        metadata = {key: value for key, value in manifest["metadata"].items() if key in taken}
        return {key: value for key, value in manifest.items() if key in ("apiVersion", "kind", "status")} | {"metadata": metadata}
    if "status" in resource.subresources:
        return {key: value for key, value in manifest.items() if key != "status"}
    return manifest


def updated(new: Manifest, old: Manifest | None, schema: Type | None, *, manager: str, subresource: str, now: str) -> Manifest:
    """Returns `new` with managedFields in which the manager alone owns the fields that differ from `old`."""
    ours = Identity(manager, "Update", subresource, new["apiVersion"])
    new = _fresh(stored(new, schema or DEDUCED))
    differences = compare(without_managed_fields(old or {}), without_managed_fields(new), schema or DEDUCED)
    changed = difference(union(differences.added, differences.modified), NEVER_OWNED)
    managers: Managers = {}
    for identity, entry in managers_of(old or {}).items():
        rest = difference(entry.fields, union(changed, differences.removed))
        managers[identity] = entry if rest == entry.fields else entry._replace(fields=rest)
    if changed:
        held = managers[ours].fields if ours in managers else {}
        managers[ours] = ManagedFieldsEntry(union(held, changed), new["apiVersion"], now)
    new["metadata"]["managedFields"] = to_managed_fields({who: entry for who, entry in managers.items() if entry.fields})
    return new
