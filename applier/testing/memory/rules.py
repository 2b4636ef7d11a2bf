"""Validates and completes objects before they are stored, as a server does: identity, generation, status, immutable fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from applier.cluster import Resource
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from applier.testing.memory import refusals
from applier.testing.memory.faults import MemoryRequest
from kube_objects import json_pointer

IMMUTABLE: Mapping[str, tuple[str, ...]] = {
    "ControllerRevision.apps": ("/data",),
    "DaemonSet.apps": ("/spec/selector",),
    "Deployment.apps": ("/spec/selector",),
    "Job.batch": ("/spec/selector", "/spec/template", "/spec/completionMode"),
    "Secret": ("/type",),
    "Service": ("/spec/clusterIP",),
    "StatefulSet.apps": ("/spec/selector", "/spec/serviceName", "/spec/volumeClaimTemplates"),
    "RoleBinding.rbac.authorization.k8s.io": ("/roleRef",),
    "ClusterRoleBinding.rbac.authorization.k8s.io": ("/roleRef",),
}
"""JSON pointers of immutable fields, by `Kind.group`."""

KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Fields of `metadata` that no write changes."""


def check_conditions(manifest: Manifest, resource: Resource, name: str) -> None:
    """Raises `Invalid` for two conditions of one type in an applied status: they are a list by type in all kinds, schema or not."""
    seen: set[str] = set()
    for condition in (manifest.get("status") or {}).get("conditions") or ():
        if (key := condition["type"]) in seen:
            raise refusals.duplicate_condition(resource, name, key)
        seen.add(key)


def settle(new: Manifest, old: Manifest | None, resource: Resource, subresource: str = "") -> Manifest:
    """Returns the object to store for a write: keeps fields that only the server sets, and the half that the endpoint does not write."""
    new["apiVersion"] = resource.kind.api_version
    if old is None:
        return _without_status(new, resource)
    if subresource == "status":
        new = {**old, **({"status": new["status"]} if "status" in new else {}), "metadata": {**old["metadata"], **_managed(new)}}
    elif "status" in resource.subresources:
        new = {**_without_status(new, resource), **({"status": old["status"]} if "status" in old else {})}
    metadata = {key: value for key, value in new["metadata"].items() if key not in KEPT}
    new["metadata"] = {**metadata, **{key: old["metadata"][key] for key in KEPT if key in old["metadata"]}}
    _next_generation(new, old)
    return new


def _managed(manifest: Manifest) -> dict[str, Any]:
    managed = manifest["metadata"].get("managedFields")
    return {"managedFields": managed} if managed is not None else {}


def _without_status(manifest: Manifest, resource: Resource) -> Manifest:
    if "status" not in resource.subresources:
        return manifest
    return {key: value for key, value in manifest.items() if key != "status"}


def _next_generation(new: Manifest, old: Manifest) -> None:
    """Increments the generation if anything but metadata and status has changed, or the deletion has begun."""
    before = old["metadata"].get("generation")
    if before is not None:
        same = _desired(new) == _desired(old) and new["metadata"].get("deletionTimestamp") == old["metadata"].get("deletionTimestamp")
        new["metadata"]["generation"] = before if same else before + 1


def _desired(manifest: Manifest) -> Manifest:
    return {key: value for key, value in manifest.items() if key not in ("metadata", "status", "apiVersion")}


def check_immutable(new: Manifest, old: Manifest, resource: Resource, table: Mapping[str, tuple[str, ...]]) -> None:
    """Raises `Invalid` if an immutable field has changed."""
    pointers = table.get(resource.kind.group_kind, ())
    if resource.kind.group == "" and old.get("immutable") is True:
        pointers = (*pointers, "/data", "/binaryData", "/immutable")
    for pointer in pointers:
        before = json_pointer.at(old, pointer)
        if before is not None and json_pointer.at(new, pointer) != before:
            raise refusals.invalid(resource, new["metadata"]["name"], pointer[1:].replace("/", "."), "field is immutable")


def check_finalizers(new: Manifest, old: Manifest, resource: Resource) -> None:
    """Raises `Invalid` if a terminating object gets more finalizers."""
    more = set(new["metadata"].get("finalizers") or ()) - set(old["metadata"].get("finalizers") or ())
    if more and "deletionTimestamp" in old["metadata"]:
        message = "no new finalizers can be added if the object is being deleted"
        raise refusals.invalid(resource, new["metadata"]["name"], "metadata.finalizers", message)


def is_same(new: Manifest, old: Manifest) -> bool:
    """Reports whether storing `new` would change nothing, so that the server does not write and the object keeps its version."""
    return _bare(new) == _bare(old)


def _bare(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "resourceVersion"}
    managed = [{**entry, "time": "", "apiVersion": ""} for entry in metadata.get("managedFields") or ()]
    return {**manifest, "metadata": {**metadata, "managedFields": managed}}


def named(manifest: Manifest, number: int) -> Manifest:
    """Returns a manifest with a generated name if it has a `generateName` and no name."""
    metadata = manifest.get("metadata") or {}
    if metadata.get("name") or not metadata.get("generateName"):
        return manifest
    return {**manifest, "metadata": {**metadata, "name": f"{metadata['generateName']}{number:05d}"}}


def check_identity(resource: Resource, manifest: Manifest) -> None:
    """Raises `Invalid` if an object is not of the kind of its path, or has no name or namespace."""
    if Kind.of(manifest) != resource.kind:
        raise refusals.bad_request(f"the object is a {manifest.get('kind')}, the path is that of {resource.plural}")
    if not Ref.of(manifest).name:
        raise refusals.bad_request("name is required")
    if resource.namespaced and not Ref.of(manifest).namespace:
        raise refusals.bad_request("namespace is required")


def check_version(request: MemoryRequest, manifest: Manifest, live: Manifest | None) -> None:
    """Raises `WriteConflict` if the manifest has another resourceVersion than the live object, `Invalid` if it has another UID.

    Like a real server, ignores the resourceVersion if there is no live object.
    """
    uid, version = uid_of(manifest), resource_version_of(manifest)
    if live is None:
        if uid:
            raise refusals.other_uid(request.resource, request.name, uid, "")
        return
    if version and version != resource_version_of(live):
        raise refusals.moved_on(request.resource, request.name)
    if uid and uid != uid_of(live):
        raise refusals.uid_is_immutable(request.resource, request.name)
