"""What names a kind and an object of a cluster, and what its metadata says of it: its UID and version, its deletion, its owners."""

from __future__ import annotations

from typing import Any, NamedTuple

Manifest = dict[str, Any]

GroupKind = tuple[str, str]
"""Group and kind: a kind whatever its version. `ref[:2]` is one: it is asked for often, and a type of its own takes three times as long."""


class Kind(NamedTuple):
    """A group, version and kind. The group of Kubernetes' core is the empty text."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, manifest: Manifest) -> Kind:
        """Returns the kind that a manifest says it is of."""
        return cls.read(str(manifest.get("apiVersion", "")), str(manifest.get("kind", "")))

    @classmethod
    def read(cls, api_version: str, kind: str) -> Kind:
        """Reads a kind from `apiVersion` and `kind` as manifests write them."""
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind)

    @property
    def api_version(self) -> str:
        """`group/version`, or `version` alone for the core."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """`Kind.group`, or `Kind` for the core: how ApplySets (KEP-3659) write a kind without its version."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


NAMESPACE: GroupKind = ("", "Namespace")
DEFINITION: GroupKind = ("apiextensions.k8s.io", "CustomResourceDefinition")
DEFINITION_KIND = Kind(DEFINITION[0], "v1", DEFINITION[1])
"""How definitions of kinds (CRDs) are asked for."""


class Ref(NamedTuple):
    """Names one object. Two versions of an API name the same object, so the version is no part of it."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Manifest) -> Ref:
        """Returns the object that a manifest describes. What its metadata lacks is empty."""
        metadata = manifest.get("metadata") or {}
        group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
        return cls(group, str(manifest.get("kind", "")), str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))

    def __str__(self) -> str:
        """Returns `Kind.group/namespace/name`, without what is empty: what people read in plans and errors."""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind}/{self.namespace}/{self.name}" if self.namespace else f"{kind}/{self.name}"


def uid_of(manifest: Manifest) -> str:
    """Returns the UID that the server gave an object; empty while it exists only on paper."""
    return str((manifest.get("metadata") or {}).get("uid") or "")


def resource_version_of(manifest: Manifest) -> str:
    """Returns the version of an object in the server's history; empty while it exists only on paper."""
    return str((manifest.get("metadata") or {}).get("resourceVersion") or "")


def is_being_deleted(manifest: Manifest) -> bool:
    """Tells whether a live object's deletion has begun."""
    return bool((manifest.get("metadata") or {}).get("deletionTimestamp"))


def being_deleted(live: Manifest) -> str:
    """Says since when an object is being deleted, and what it waits for: `is being deleted since TIME, held by FINALIZER, FINALIZER`."""
    metadata = live.get("metadata") or {}
    finalizers = ", ".join(map(str, metadata.get("finalizers") or ()))
    return f"is being deleted since {metadata.get('deletionTimestamp')}" + (f", held by {finalizers}" if finalizers else "")


def names(entry: dict[str, Any], owner: Ref) -> bool:
    """Says whether an entry of `metadata.ownerReferences` names this object; its UID aside."""
    group = str(entry.get("apiVersion", "")).rpartition("/")[0]
    return entry.get("name") == owner.name and entry.get("kind") == owner.kind and group == owner.group


def with_owner(manifest: Manifest, owner: Ref, uid: str) -> Manifest:
    """Returns the manifest with the UID in the entries that name the owner; the same manifest when they have it already.

    Only the path to the entries is copied.
    """
    metadata = manifest["metadata"]
    entries = metadata.get("ownerReferences") or ()
    if all(entry.get("uid") == uid for entry in entries if names(entry, owner)):
        return manifest
    filled = [{**entry, "uid": uid} if names(entry, owner) else entry for entry in entries]
    return {**manifest, "metadata": {**metadata, "ownerReferences": filled}}


def refers_to(manifest: Manifest, owner: Ref) -> bool:
    """Says whether the object has an owner reference to this owner, that is, whether it needs its UID."""
    return any(names(entry, owner) for entry in manifest["metadata"].get("ownerReferences") or ())
