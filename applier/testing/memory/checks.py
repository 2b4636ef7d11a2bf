"""What a server checks of a request before it looks at the object's fields: its name, and whether it means this very object."""

from __future__ import annotations

from applier.cluster import Resource
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from applier.testing.memory import refusals
from applier.testing.memory.faults import Request


def named(manifest: Manifest, number: int) -> Manifest:
    """A manifest with a name of its own, where it asks for one by `generateName`."""
    metadata = manifest.get("metadata") or {}
    if metadata.get("name") or not metadata.get("generateName"):
        return manifest
    return {**manifest, "metadata": {**metadata, "name": f"{metadata['generateName']}{number:05d}"}}


def check_identity(resource: Resource, manifest: Manifest) -> None:
    """Raises `Invalid` where an object is not of the kind that its path says, or lacks what names it."""
    if Kind.of(manifest) != resource.kind:
        raise refusals.bad_request(f"the object is a {manifest.get('kind')}, the path is that of {resource.plural}")
    if not Ref.of(manifest).name:
        raise refusals.bad_request("name is required")
    if resource.namespaced and not Ref.of(manifest).namespace:
        raise refusals.bad_request("namespace is required")


def check_version(request: Request, wanted: Manifest, live: Manifest | None) -> None:
    """Who says which UID or version is meant writes to that one only. Raises `WriteConflict`."""
    if uid_of(wanted) and uid_of(wanted) != (uid_of(live) if live else ""):
        raise refusals.other_uid(request.resource, request.name, uid_of(wanted), uid_of(live) if live else "")
    version = resource_version_of(wanted)
    if version and version != (resource_version_of(live) if live else ""):
        raise refusals.moved_on(request.resource, request.name)
