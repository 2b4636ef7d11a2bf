"""Defines `Node`, one object that should exist, and `ObjectRef`, the reference to an object."""

from __future__ import annotations

from typing import NamedTuple

from kube_objects.manifest import Manifest as Manifest


class ObjectRef(NamedTuple):
    """Names one object of a cluster. `uid` is empty while the object exists only on paper."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""

    @classmethod
    def of(cls, manifest: Manifest) -> ObjectRef:
        """Returns the reference to an object, with the UID of a live one."""
        metadata = manifest["metadata"]
        return cls(manifest["apiVersion"], manifest["kind"], metadata.get("namespace") or "", metadata["name"], metadata.get("uid") or "")

    @property
    def id(self) -> str:
        """The object's id: `Kind/namespace/name`, or `Kind/name` without a namespace."""
        return f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"


class Node(NamedTuple):
    """Represents one object of the result.

    `id` is `Kind/namespace/name`. `object` is read-only: nodes share parts of their manifests. `rule` is the id of the rule that
    generated it and `loop` the position of each of the rule's `forEach` variables, from which `CompiledGraph` derives what comes
    before it and provenance can be computed again. `policy` says what an applier may do: it is the rule's `policy` as a dict.
    """

    id: str
    object: Manifest
    rule: str
    loop: tuple[int, ...]
    owner: ObjectRef | None
    policy: Manifest
