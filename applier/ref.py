"""Identifies kinds and objects of a cluster, and reads an object's metadata: UID, version and owners."""

from __future__ import annotations

from typing import Any, NamedTuple

from kube_objects.manifest import Manifest as Manifest

GroupKind = tuple[str, str]
"""A group and a kind, without a version. It is computed as `ref[:2]`, very often: a type of its own takes three times as long."""


class Kind(NamedTuple):
    """Represents a group, version and kind. The core group is the empty string."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, manifest: Manifest) -> Kind:
        """Returns the kind that a manifest declares."""
        return cls.read(str(manifest.get("apiVersion", "")), str(manifest.get("kind", "")))

    @classmethod
    def read(cls, api_version: str, kind: str) -> Kind:
        """Parses `apiVersion` and `kind` of a manifest."""
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind)

    @property
    def api_version(self) -> str:
        """Returns `group/version`, or `version` alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """Returns `Kind.group`, or `Kind` for the core group, as ApplySets (KEP-3659) write a kind without its version."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


NAMESPACE: GroupKind = ("", "Namespace")
DEFINITION: GroupKind = ("apiextensions.k8s.io", "CustomResourceDefinition")
DEFINITION_KIND = Kind(DEFINITION[0], "v1", DEFINITION[1])
"""The kind of CRDs, in the version that is requested."""
POD, EVENT, SECRET, CONFIG_MAP, NAMESPACE_KIND = (Kind("", "v1", kind) for kind in ("Pod", "Event", "Secret", "ConfigMap", "Namespace"))


class Ref(NamedTuple):
    """Identifies an object. It has no API version, since all versions of an API hold the same object."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Manifest) -> Ref:
        """Returns the reference of a manifest's object; empty for what its metadata lacks."""
        metadata = manifest.get("metadata") or {}
        group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
        return cls(group, str(manifest.get("kind", "")), str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))

    def __str__(self) -> str:
        """Returns `Kind.group/namespace/name`, as plans and errors print it; empty parts are left out."""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind}/{self.namespace}/{self.name}" if self.namespace else f"{kind}/{self.name}"


def owner_uids(manifest: Manifest) -> set[str]:
    """Returns the UIDs of an object's owners. A manifest that was not stored by a server may name an owner without a UID."""
    return {uid for owner in manifest["metadata"].get("ownerReferences") or () if (uid := owner.get("uid"))}


def uid_of(manifest: Manifest) -> str:
    """Returns the UID that the server gave an object; empty for a manifest that was not read from a server."""
    return str((manifest.get("metadata") or {}).get("uid") or "")


def resource_version_of(manifest: Manifest) -> str:
    """Returns an object's resource version; empty for a manifest that was not read from a server."""
    return str((manifest.get("metadata") or {}).get("resourceVersion") or "")


def being_deleted(live: Manifest) -> str:
    """Returns since when an object is being deleted and what holds it: `has been terminating since TIME, held by FINALIZER, FINALIZER`."""
    metadata = live.get("metadata") or {}
    finalizers = ", ".join(map(str, metadata.get("finalizers") or ()))
    return f"has been terminating since {metadata.get('deletionTimestamp')}" + (f", held by {finalizers}" if finalizers else "")


def is_reference_to(entry: dict[str, Any], owner: Ref) -> bool:
    """Reports whether an entry of `metadata.ownerReferences` refers to this object, with any UID."""
    group = str(entry.get("apiVersion", "")).rpartition("/")[0]
    return entry.get("name") == owner.name and entry.get("kind") == owner.kind and group == owner.group


def with_owner(manifest: Manifest, owner: Ref, uid: str) -> Manifest:
    """Returns the manifest with the UID set in the owner references that name the owner; the same manifest if it is set already.

    Only the path to the entries is copied.
    """
    metadata = manifest["metadata"]
    entries = metadata.get("ownerReferences") or ()
    if all(entry.get("uid") == uid for entry in entries if is_reference_to(entry, owner)):
        return manifest
    filled = [{**entry, "uid": uid} if is_reference_to(entry, owner) else entry for entry in entries]
    return {**manifest, "metadata": {**metadata, "ownerReferences": filled}}


def refers_to(manifest: Manifest, owner: Ref) -> bool:
    """Reports whether the object has an owner reference to this owner, so that its UID is needed."""
    return any(is_reference_to(entry, owner) for entry in manifest["metadata"].get("ownerReferences") or ())
