"""Models a PodClique of another controller, and the ComputeDomain that its pods are to join. Rules call it `podclique`."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest
from grove_compiler.model.admitted.place import CLIQUE, GANG, Place, place_of
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared
from grove_compiler.model.expanded.domains import DomainDecisions
from grove_compiler.model.inputs.mnnvl_shape import DOMAIN, DRIVER, DRIVER_API_VERSION, shape_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec import mnnvl
from grove_compiler.model.spec.mnnvl import ANNOTATIONS, DESIGN_KEYS, ENABLED, SCALING_GROUP_REPLICA, Membership
from grove_compiler.model.spec.pod_spec import DOMAIN_CLAIM, GpuContainer, claim_uses_of, gpu_containers_of
from grove_compiler.model.spec.podcliqueset import API_VERSION, PodCliqueSet
from grove_compiler.model.spec.sharing import CLAIM_API_VERSION
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record
from kube_objects.manifest import is_terminating


@record
class JoinedDomain:
    """The ComputeDomain that a PodClique's pods join through the claim `claim_name`; it is deleted with the PodGang `gang_name`.

    `live` are the domain and its claim in the cluster, as far as they exist.
    """

    name: str
    claim_name: str
    membership: Membership
    is_driver_shaped: bool
    gang_name: str
    live: list[Manifest]

    @property
    def is_leaving(self) -> bool:
        """Whether the domain or its claim is being deleted: pods that joined now would soon lose it."""
        return any(is_terminating(manifest) for manifest in self.live)

    @property
    def set_names(self) -> list[str]:
        """The sets that the labels of the domain and its claim name; an empty name for one without the label."""
        return [place_of((manifest.get("metadata") or {}).get("labels") or {}).set_name for manifest in self.live]


@record(slots=False)
class AdmittedPodClique:
    """A PodClique in an admission request. `namespace` is the request's, `former` what it was before an update that keeps its claim."""

    manifest: Manifest
    namespace: str
    settings: Settings
    snapshot: Snapshot
    decisions: DecisionRules
    former: AdmittedPodClique | None = None

    name = declared(str, "metadata.name")
    labels = declared(dict[str, str], "metadata.labels")
    own_annotations = declared(dict[str, str], "metadata.annotations", "Those that it comes with.")
    pod_spec = declared(Manifest, "spec.podSpec")

    @lazy
    def place(self) -> Place:
        """The set, replica and scaling group that it belongs to."""
        return place_of(self.labels)

    @lazy
    def set(self) -> PodCliqueSet | None:
        """The set that its labels name; none where that does not exist."""
        manifest = self.snapshot.get(API_VERSION, "PodCliqueSet", self.namespace, self.place.set_name)
        return PodCliqueSet(manifest, self.namespace, self.decisions) if manifest is not None else None

    @lazy
    def template(self) -> CliqueTemplate | None:
        """The clique of the set that it was made from, by its name; none where the set has no such clique."""
        if self.set is None:
            return None
        owner = self.place.member_name or self.place.replica_name
        return next((template for template in self.set.cliques if f"{owner}-{template.name}" == self.name), None)

    @lazy
    def inherited(self) -> dict[str, str]:
        """The design's annotations that it does not have itself, since its controller did not copy them: those of its set.

        On an update those that it had: what its pods have joined was decided when it was created, whatever has become of its set since.
        """
        if self.former is not None:
            reaching = self.former.declared_annotations
        else:
            reaching = self.set.mnnvl.propagated(self.template) if self.set is not None and self.template is not None else {}
        return {key: value for key, value in reaching.items() if key not in self.own_annotations}

    @lazy
    def declared_annotations(self) -> dict[str, str]:
        """The design's annotations that it comes with."""
        return {key: value for key, value in self.own_annotations.items() if key in DESIGN_KEYS}

    @lazy
    def annotations(self) -> dict[str, str]:
        """The design's annotations that apply to it: its own, and those that it inherits; on an update those that it had."""
        return {**self.inherited, **self.declared_annotations} if self.former is None else self.former.declared_annotations

    @lazy
    def is_enabled(self) -> bool:
        """Whether its annotations enable MNNVL."""
        return self.annotations.get(ENABLED) == "true"

    @lazy
    def scope(self) -> str:
        """Which pods share a domain; `replica` by default."""
        return self.annotations.get(mnnvl.SCOPE) or mnnvl.REPLICA

    @lazy
    def device_class(self) -> str:
        """The device class that its claim requests; the driver's by default."""
        return self.annotations.get(mnnvl.DEVICE_CLASS) or mnnvl.DEFAULT_DEVICE_CLASS

    @lazy
    def clique_name(self) -> str:
        """The name of its template: from a label, from its set, or else its own name without the prefix of its replica."""
        name = self.labels.get(CLIQUE) or (self.template.name if self.template is not None else "")
        return name or self.name.removeprefix(f"{self.place.member_name or self.place.replica_name}-")

    @lazy
    def gang_label(self) -> str:
        """The PodGang that its label names; empty without one."""
        return self.labels.get(GANG) or ""

    @lazy
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers that request GPUs."""
        return gpu_containers_of(self.pod_spec, "spec.podSpec")

    @lazy
    def names_claim(self) -> bool:
        """Whether any container names the claim of the domain."""
        return any(use.name == DOMAIN_CLAIM for use in claim_uses_of(self.pod_spec, "spec.podSpec"))

    @lazy
    def claims(self) -> list[Manifest]:
        """The entries of `spec.podSpec.resourceClaims` that have the name of the domain's claim."""
        return [claim for claim in self.pod_spec.get("resourceClaims") or [] if claim.get("name") == DOMAIN_CLAIM]

    @lazy
    def users(self) -> list[GpuContainer]:
        """The containers that are to use the claim and do not name it yet."""
        return [container for container in self.gpu_containers if DOMAIN_CLAIM not in container.claim_names]

    @lazy
    def domain(self) -> JoinedDomain | None:
        """The domain that its pods join; none where MNNVL is not enabled, no container uses it, or labels do not tell which."""
        is_placed = self.place.is_known and (self.scope != SCALING_GROUP_REPLICA or bool(self.place.member_name))
        if not self.is_enabled or not is_placed or not (self.gpu_containers or self.names_claim):
            return None
        membership = Membership(ANNOTATIONS, self.scope, self.device_class, "", f"metadata.annotations[{ENABLED}]")
        owners = {mnnvl.REPLICA: self.place.replica_name, SCALING_GROUP_REPLICA: self.place.member_name}
        owner = owners.get(self.scope, self.name)
        decisions = self.decisions.of(DomainDecisions)
        name, claim = decisions.domain_name(membership, owner), decisions.domain_claim_name(membership, owner)
        is_driver_shaped = shape_of(self.settings.mnnvl_shape, self.snapshot) == DRIVER
        desired = [(DRIVER_API_VERSION, DOMAIN, name), *([] if is_driver_shaped else [(CLAIM_API_VERSION, "ResourceClaim", claim)])]
        live = (self.snapshot.get(version, kind, self.namespace, object_name) for version, kind, object_name in desired)
        gang = self.decisions.of(AdmittedCliqueDecisions).owning_gang(self)
        return JoinedDomain(name, claim, membership, is_driver_shaped, gang, [manifest for manifest in live if manifest is not None])


class AdmittedCliqueDecisions(Protocol):
    @staticmethod
    def owning_gang(podclique: AdmittedPodClique) -> str:
        """Decides the name of the PodGang that owns the domain of a PodClique."""
