"""Models a PodGang of another controller, and the domains and claims that it is to own. Rules call it `podgang`."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.admitted.place import GANG, SET, Place, place_of
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared
from grove_compiler.model.expanded.gang import PODGANG_API_VERSION
from grove_compiler.model.inputs.mnnvl_shape import DOMAIN
from grove_compiler.model.inputs.snapshot import Snapshot, controller_of
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

ADOPTABLE = (("resource.nvidia.com", DOMAIN), ("resource.k8s.io", "ResourceClaim"))


@record(slots=False)
class DomainResource:
    """A ComputeDomain or ResourceClaim in the cluster that our webhooks made."""

    manifest: Manifest

    name = declared(str, "metadata.name")
    labels = declared(dict[str, str], "metadata.labels")
    resource_version = declared(str, "metadata.resourceVersion")
    api_version = declared(str, "apiVersion")
    kind = declared(str, "kind")

    @lazy
    def place(self) -> Place:
        """Where it belongs."""
        return place_of(self.labels)

    @lazy
    def gang_label(self) -> str:
        """The PodGang that its label names; empty where others made it."""
        return self.labels.get(GANG) or ""

    @lazy
    def owner_uid(self) -> str:
        """The UID of its controller; empty without one."""
        return str((controller_of(self.manifest) or {}).get("uid") or "")


@record(slots=False)
class AdmittedPodGang:
    """A PodGang in an admission request, which has no UID yet, or in the cluster. `namespace` is the request's."""

    manifest: Manifest
    namespace: str
    snapshot: Snapshot
    decisions: DecisionRules

    name = declared(str, "metadata.name")
    uid = declared(str, "metadata.uid", "Empty in an admission request for its creation: the API server sets it later.")
    labels = declared(dict[str, str], "metadata.labels")
    annotations = declared(dict[str, str], "metadata.annotations")

    @lazy
    def place(self) -> Place:
        """Where it belongs."""
        return place_of(self.labels)

    @lazy
    def ref(self) -> ObjectRef:
        """The PodGang as an owner."""
        return ObjectRef(PODGANG_API_VERSION, "PodGang", self.namespace, self.name, self.uid)

    @lazy
    def resources(self) -> list[DomainResource]:
        """The domains and claims that belong to it, by the rule `belongs_to_gang`; without those that are being deleted."""
        candidates = (
            DomainResource(manifest)
            for group, kind in ADOPTABLE
            for manifest in self.snapshot.labelled(group, kind, SET, self.place.set_name, self.namespace)
            if not is_terminating(manifest)
        )
        belongs = self.decisions.of(AdmittedGangDecisions).belongs_to_gang
        return [resource for resource in candidates if belongs(resource, self)] if self.place.set_name else []


class AdmittedGangDecisions(Protocol):
    @staticmethod
    def belongs_to_gang(resource: DomainResource, podgang: AdmittedPodGang) -> bool:
        """Decides whether a ComputeDomain or ResourceClaim belongs to a PodGang of its set."""
