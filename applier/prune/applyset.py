"""Defines ApplySets: sets of objects with a record on their parent, as KEP-3659 specifies them and kubectl reads them.

https://git.k8s.io/enhancements/keps/sig-cli/3659-kubectl-apply-prune#design-details-applyset-specification
Members have a label with the set's id. One object, the parent, has the record: the id, the tool that manages the set, and the kinds and
namespaces of its members. Nothing else is stored, and an object without the label is no member. Records of other tools are not changed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from applier.desired import Desired, Graph
from applier.errors import ApplierError
from applier.plan.membership import PART_OF, part_of
from applier.ref import CONFIG_MAP, SECRET, GroupKind, Kind, Manifest, Ref


class ApplySetError(ApplierError):
    """Reports that a set cannot be used as requested."""


@dataclass(slots=True, eq=False)
class ApplySet:
    """Names a set by its parent.

    `tooling` is our tool as `NAME/VERSION`, which the record contains. That of a tool of another name is not changed, as the KEP requires:
    two tools that prune by different rules would delete each other's objects.
    """

    kind: Kind
    namespace: str
    name: str
    tooling: str
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = applyset_id(self.parent)

    @property
    def parent(self) -> Ref:
        """The object with the record."""
        return Ref(self.kind.group, self.kind.kind, self.namespace, self.name)

    @property
    def selector(self) -> str:
        """The label selector of the members."""
        return f"{PART_OF}={self.id}"

    def label(self, graph: Graph) -> Graph:
        """Returns the graph with the set's label on each object. Manifests are not changed but copied, as far as needed.

        Raises `ApplySetError` when an object is of another set by its own manifest, or is the parent itself.
        """
        wrong = [desired for desired in graph.objects.values() if part_of(desired.manifest) not in ("", self.id)]
        if wrong:
            raise ApplySetError(f"part of another ApplySet by their own label {PART_OF}: {', '.join(str(one.ref) for one in wrong)}")
        if self.parent in graph.objects:
            raise ApplySetError(f"{self.parent} contains the record of the ApplySet and cannot be one of its members")
        return Graph([self._labelled(desired) for desired in graph.objects.values()])

    def _labelled(self, desired: Desired) -> Desired:
        metadata = desired.manifest["metadata"]
        labels = {**(metadata.get("labels") or {}), PART_OF: self.id}
        return replace(desired, manifest={**desired.manifest, "metadata": {**metadata, "labels": labels}})


def applyset_id(parent: Ref) -> str:
    """Returns `applyset-<base64url(sha256("<name>.<namespace>.<kind>.<group>"))>-v1`, without padding."""
    text = f"{parent.name}.{parent.namespace}.{parent.kind}.{parent.group}"
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"applyset-{digest}-v1"


ID = "applyset.kubernetes.io/id"
TOOLING = "applyset.kubernetes.io/tooling"
GROUP_KINDS = "applyset.kubernetes.io/contains-group-kinds"
GROUP_RESOURCES = "applyset.kubernetes.io/contains-group-resources"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
PARENT_TYPE = "applyset.kubernetes.io/is-parent-type"

BUILT_IN_PARENTS = frozenset({SECRET, CONFIG_MAP})
"""The kinds of parents that are created when missing. Any other kind needs the label `PARENT_TYPE` on its definition (CRD)."""


def tool_of(tooling: str) -> str:
    """Returns the tool's name in `NAME/VERSION`. The name itself may have slashes."""
    name, _, _ = tooling.rpartition("/")
    return name or tooling


class ApplySetScope(NamedTuple):
    """Represents where the members of a set are: their groups and kinds, and their namespaces."""

    kinds: frozenset[GroupKind] = frozenset()
    namespaces: frozenset[str] = frozenset()

    @classmethod
    def of(cls, refs: Iterable[Ref]) -> ApplySetScope:
        """Returns the scope of these objects."""
        refs = list(refs)
        return cls(frozenset((ref.group, ref.kind) for ref in refs), frozenset(ref.namespace for ref in refs if ref.namespace))

    def __or__(self, other: object) -> ApplySetScope:
        """Returns the union of both scopes."""
        if not isinstance(other, ApplySetScope):
            return NotImplemented
        return ApplySetScope(self.kinds | other.kinds, self.namespaces | other.namespaces)


NOWHERE = ApplySetScope()


@dataclass(slots=True, eq=False)
class Record:
    """Represents the record of a set as it was read.

    `tooling` is the tool that the parent names; `resource_version` is empty without a parent. `resources` are the group resources
    (`plural.group`) in records of early kubectl versions, which have no kinds.
    """

    tooling: str = ""
    scope: ApplySetScope = NOWHERE
    resources: frozenset[str] = frozenset()
    uid: str = ""
    resource_version: str = ""


def read_record(applyset: ApplySet, parent: Manifest | None) -> Record:
    """Reads the record from a parent. Raises `ApplySetError` when it is no parent of this set, or another tool manages the set."""
    if parent is None:
        if applyset.kind not in BUILT_IN_PARENTS:
            raise ApplySetError(f"{applyset.parent} does not exist: only a missing Secret or ConfigMap is created")
        return Record()
    metadata = parent.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    _check(applyset, metadata.get("labels") or {}, annotations)
    return Record(
        annotations[TOOLING],
        ApplySetScope(
            frozenset(_group_kind(text) for text in _listed(annotations, GROUP_KINDS)),
            frozenset(_listed(annotations, NAMESPACES)) | ({applyset.namespace} if applyset.namespace else set()),
        ),
        frozenset(_listed(annotations, GROUP_RESOURCES)) if GROUP_KINDS not in annotations else frozenset(),
        str(metadata.get("uid") or ""),
        str(metadata.get("resourceVersion") or ""),
    )


def _check(applyset: ApplySet, labels: dict[str, str], annotations: dict[str, str]) -> None:
    parent, tooling = applyset.parent, annotations.get(TOOLING, "")
    if not tooling:
        raise ApplySetError(f"{parent} exists and is not the parent of an ApplySet: it has no annotation {TOOLING}. Choose another object")
    if tool_of(tooling) != (us := tool_of(applyset.tooling)):
        raise ApplySetError(
            f"the ApplySet of {parent} is managed by {tooling}, not by {us}: prune it with that tool, or choose another object"
        )
    if labels.get(ID) != applyset.id:
        raise ApplySetError(f"{parent} has the label {ID}={labels.get(ID, '')} where {applyset.id} is expected: it was copied or renamed")
    if GROUP_KINDS not in annotations and not annotations.get(GROUP_RESOURCES):
        raise ApplySetError(f"{parent} does not list the kinds of its members: it has no annotation {GROUP_KINDS}")


def _listed(annotations: dict[str, str], name: str) -> list[str]:
    text = annotations.get(name)
    return text.split(",") if text else []


def _group_kind(text: str) -> GroupKind:
    kind, _, group = text.partition(".")
    return group, kind


def parent_manifest(applyset: ApplySet, scope: ApplySetScope) -> Manifest:
    """Returns the parent as it is applied: only the record, so that all other fields keep their owners."""
    metadata = {
        "name": applyset.name,
        "labels": {ID: applyset.id},
        "annotations": {
            TOOLING: applyset.tooling,
            GROUP_KINDS: ",".join(sorted(Kind(group, "", kind).group_kind for group, kind in scope.kinds)),
            NAMESPACES: ",".join(sorted(scope.namespaces - {applyset.namespace})),
        },
    }
    if applyset.namespace:
        metadata["namespace"] = applyset.namespace
    return {"apiVersion": applyset.kind.api_version, "kind": applyset.kind.kind, "metadata": metadata}
