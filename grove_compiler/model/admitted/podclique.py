"""A PodClique that another controller writes, and the ComputeDomain that its pods are to join: rules call it `podclique`."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.admitted.place import CLIQUE, GANG, Place, place_of
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.domains import domain_claim_name, domain_name
from grove_compiler.model.inputs.mnnvl_shape import DOMAIN, DRIVER, DRIVER_API_VERSION, shape_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot, is_terminating
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec import mnnvl
from grove_compiler.model.spec.declared import declared
from grove_compiler.model.spec.mnnvl import ANNOTATIONS, DESIGN_KEYS, ENABLED, SCALING_GROUP_REPLICA, Membership
from grove_compiler.model.spec.pod_spec import DOMAIN_CLAIM, GpuContainer, claim_uses_of, gpu_containers_of
from grove_compiler.model.spec.podcliqueset import API_VERSION, PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record

CLAIM_API_VERSION = "resource.k8s.io/v1"


@record
class JoinedDomain:
    """The ComputeDomain that a PodClique's pods join. `claim_name` is what they refer to; `gang_name` is the PodGang that it is to go with.

    `found` are the domain and its claim as they are in the cluster, as far as they are there.
    """

    name: str
    claim_name: str
    membership: Membership
    is_driver_shaped: bool
    gang_name: str
    found: list[Manifest]

    @property
    def is_leaving(self) -> bool:
        """Whether it or its claim is being deleted: pods that joined now would be left with nothing."""
        return any(is_terminating(one) for one in self.found)

    @property
    def set_names(self) -> list[str]:
        """The sets of which the domain and its claim say that they are; an empty name where they do not say it."""
        return [place_of((one.get("metadata") or {}).get("labels") or {}).set_name for one in self.found]


@record(slots=False)
class AdmittedPodClique:
    """A PodClique as it is asked for. `namespace` is the request's."""

    manifest: Manifest
    namespace: str
    settings: Settings
    snapshot: Snapshot
    decisions: DecisionRules

    name = declared(str, "metadata.name")
    labels = declared(dict[str, str], "metadata.labels")
    own_annotations = declared(dict[str, str], "metadata.annotations", "Those that it comes with.")
    pod_spec = declared(Manifest, "spec.podSpec")

    @lazy
    def place(self) -> Place:
        """Where it belongs."""
        return place_of(self.labels)

    @lazy
    def set(self) -> PodCliqueSet | None:
        """The set that its labels name; none where that is not there."""
        found = self.snapshot.get(API_VERSION, "PodCliqueSet", self.namespace, self.place.set_name)
        return PodCliqueSet(found, self.namespace, self.decisions) if found is not None else None

    @lazy
    def set_ref(self) -> ObjectRef | None:
        """The set as an owner; none where it is not there."""
        return self.set.ref if self.set is not None else None

    @lazy
    def template(self) -> CliqueTemplate | None:
        """The clique of the set that it was made from, by its name; none where the set has no such clique."""
        owner = self.place.member_name or self.place.replica_name
        return next((one for one in self.set.cliques if f"{owner}-{one.name}" == self.name), None) if self.set is not None else None

    @lazy
    def inherited(self) -> dict[str, str]:
        """The design's annotations that reach it from its set and do not stand on it, where its controller did not hand them on."""
        reaching = self.set.mnnvl.propagated(self.template) if self.set is not None and self.template is not None else {}
        return {key: value for key, value in reaching.items() if key not in self.own_annotations}

    @lazy
    def annotations(self) -> dict[str, str]:
        """The design's annotations that hold for it: its own, and those that reach it."""
        own = {key: value for key, value in self.own_annotations.items() if key in DESIGN_KEYS}
        return {**self.inherited, **own}

    @lazy
    def is_enabled(self) -> bool:
        """Whether its annotations enable MNNVL."""
        return self.annotations.get(ENABLED) == "true"

    @lazy
    def scope(self) -> str:
        """Which pods share a domain; `replica` unless told."""
        return self.annotations.get(mnnvl.SCOPE) or mnnvl.REPLICA

    @lazy
    def device_class(self) -> str:
        """The class of devices that its claim asks for; the driver's unless told."""
        return self.annotations.get(mnnvl.DEVICE_CLASS) or mnnvl.DEFAULT_DEVICE_CLASS

    @lazy
    def clique_name(self) -> str:
        """The name of its template, by a label, by its set, or else by what its own name adds to that of its replica."""
        known = self.labels.get(CLIQUE) or (self.template.name if self.template is not None else "")
        return known or self.name.removeprefix(f"{self.place.member_name or self.place.replica_name}-")

    @lazy
    def gang_label(self) -> str:
        """The PodGang that its label names; empty without one."""
        return self.labels.get(GANG) or ""

    @lazy
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers that ask for GPUs."""
        return gpu_containers_of(self.pod_spec, "spec.podSpec")

    @lazy
    def names_claim(self) -> bool:
        """Whether any container names the claim of the domain."""
        return any(use.name == DOMAIN_CLAIM for use in claim_uses_of(self.pod_spec, "spec.podSpec"))

    @lazy
    def claims(self) -> list[Manifest]:
        """The entries of `spec.podSpec.resourceClaims` with the name of the domain's."""
        return [one for one in self.pod_spec.get("resourceClaims") or [] if one.get("name") == DOMAIN_CLAIM]

    @lazy
    def users(self) -> list[GpuContainer]:
        """The containers that are to use the claim and do not say so themselves."""
        return [one for one in self.gpu_containers if DOMAIN_CLAIM not in one.claim_names]

    @lazy
    def domain(self) -> JoinedDomain | None:
        """The domain that its pods join; none where MNNVL is not enabled, no container has a use for it, or labels do not say which."""
        is_placed = self.place.is_known and (self.scope != SCALING_GROUP_REPLICA or bool(self.place.member_name))
        if not self.is_enabled or not is_placed or not (self.gpu_containers or self.names_claim):
            return None
        membership = Membership(ANNOTATIONS, self.scope, self.device_class, "", f"metadata.annotations[{ENABLED}]")
        owners = {mnnvl.REPLICA: self.place.replica_name, SCALING_GROUP_REPLICA: self.place.member_name}
        owner = owners.get(self.scope, self.name)
        name, claim = (self.decisions.of(one)(membership, owner) for one in (domain_name, domain_claim_name))
        is_driver_shaped = shape_of(self.settings.mnnvl_shape, self.snapshot) == DRIVER
        wanted = [(DRIVER_API_VERSION, DOMAIN, name), *([] if is_driver_shaped else [(CLAIM_API_VERSION, "ResourceClaim", claim)])]
        found = (self.snapshot.get(version, kind, self.namespace, one) for version, kind, one in wanted)
        gang = self.decisions.of(owning_gang)(self)
        return JoinedDomain(name, claim, membership, is_driver_shaped, gang, [one for one in found if one is not None])


def owning_gang(podclique: AdmittedPodClique) -> str:
    """Decides the name of the PodGang that the domain of a PodClique belongs to, and goes with."""
    raise NotImplementedError
