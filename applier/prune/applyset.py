"""Defines ApplySets: sets of objects with a record, as KEP-3659 specifies them and kubectl reads them.

https://git.k8s.io/enhancements/keps/sig-cli/3659-kubectl-apply-prune#design-details-applyset-specification
Members have a label with the set's id. One object, the parent, has the record: the id, the tool that manages the set, and the kinds and
namespaces of its members. Nothing else is stored, and an object without the label is no member.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field, replace

from applier.desired import Desired, Graph
from applier.errors import ApplierError
from applier.plan.membership import PART_OF, part_of
from applier.ref import Kind, Ref


class ApplySetError(ApplierError):
    """Reports that a set cannot be used as requested."""


@dataclass(slots=True, eq=False)
class ApplySet:
    """Names a set by its parent.

    `tooling` is our tool as `NAME/VERSION`, which the record contains. A set of a tool with another name is refused, as the KEP requires:
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
