"""Patches that set `managedFields` right: for API versions that are gone, and for managers whose fields become ours.

Each is a JSON patch (RFC 6902) that first tests the resource version it was made for, so that it never undoes what came in between.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from applier.decision.fields import Fields, difference, union
from applier.decision.managers import Entry, Identity, Managers, applier_of, managers_of, written
from applier.decision.secret_values import LAST_APPLIED
from applier.ref import Manifest, resource_version_of

Patch = list[dict[str, Any]]
CLIENT_SIDE_APPLY = ("kubectl-client-side-apply", "kubectl-last-applied")
"""Managers that `kubectl apply` without `--server-side` has written under, besides `kubectl` itself with operation Update."""
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


def take_over(
    live: Manifest, from_managers: Collection[str], to_manager: str, *, operations: Collection[str] = ("Apply", "Update")
) -> Patch:
    """Moves what other managers own of the object itself to us, so that fields which we no longer send are removed as theirs would be.

    Entries of subresources stay: they are controllers'. When a client-side apply is taken over, its annotation goes too, as
    `kubectl apply --server-side` does. Empty when none of the managers owns anything.
    """
    managers = managers_of(live)
    ours = applier_of(to_manager)
    taken = {
        one for one in managers if one != ours and not one.subresource and one.manager in from_managers and one.operation in operations
    }
    if not taken:
        return []
    client_side = any(one.manager in CLIENT_SIDE_APPLY for one in taken)
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
