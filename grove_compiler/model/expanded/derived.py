"""What exists for a set: replicas, cliques, scaling groups and gangs.

Everything here follows from a valid set, the operator's configuration, the caller's settings and a snapshot of what is there
now. It is worked out when a rule first asks for it. The declared templates keep their names; here they stand under `template`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model import names
from grove_compiler.model.expanded.claims import Claim, claim_names_of, make_claims, pod_claim_names_of, spec_in_version
from grove_compiler.model.expanded.compute_domain import ComputeDomain, PodClaim, domains_of, pod_claim_of, shape_of
from grove_compiler.model.expanded.gang import Gang
from grove_compiler.model.expanded.pods import Pod, pods_of
from grove_compiler.model.expanded.startup import Dependency, dependencies_of
from grove_compiler.model.inputs.configuration import Configuration, read_configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot, is_terminating
from grove_compiler.model.inputs.topology import Topology
from grove_compiler.model.inputs.topology_use import scheduled_pods
from grove_compiler.model.lazy import MadeOnDemand, lazy
from grove_compiler.model.spec.declared import API_VERSION, CliqueTemplate, PodCliqueSet, ScalingGroupTemplate
from grove_compiler.model.spec.gpu import GpuContainer
from grove_compiler.model.spec.mnnvl import Membership
from grove_compiler.model.spec.sharing import SharingRef

CLAIM_API_VERSION = "resource.k8s.io/v1"


@dataclass(eq=False)
class ExpandedSet(PodCliqueSet):
    """A PodCliqueSet with everything that exists for it: what rules call `set`. `former` is what it was before, if it runs already."""

    config: Configuration = field(default_factory=read_configuration, repr=False)
    settings: Settings = field(default_factory=Settings, repr=False)
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    topologies: list[Topology] = field(default_factory=list, repr=False)
    former: PodCliqueSet | None = field(default=None, repr=False)

    @lazy
    def is_placed_anew(self) -> bool:
        """Whether its topology was not chosen before: the set is new, or it names another topology than it did."""
        return self.former is None or self.former.placement.choice != self.placement.choice

    @lazy
    def topology(self) -> Topology | None:
        """The topology that constraints are translated by; none where topology-aware scheduling is off or it does not exist."""
        return self.placement.find(self.topologies) if self.config.topology_enabled else None

    @lazy
    def missing_domains(self) -> list[str]:
        """Domains that the set asks for and its topology lacks; none are missing where there is no topology."""
        return self.topology.lacks([use.domain for use in self.placement.domain_uses]) if self.topology else []

    def rank(self, domain: str) -> int:
        """How narrow a domain is, from 0 for the broadest; -1 for one that the topology lacks."""
        found = self.topology.rank(domain) if self.topology else None
        return -1 if found is None else found

    @lazy
    def mnnvl_shape(self) -> str:
        """The form of the designs' ComputeDomains and claims: `as-proposed` or `driver`."""
        return shape_of(self.settings.mnnvl_shape, self.snapshot)

    @lazy
    def scheduled_pods(self) -> int:
        """How many of its pods have a node already."""
        return scheduled_pods(self, self.snapshot)

    @lazy
    def ref(self) -> ObjectRef:
        """With the UID that the manifest has, else with that of the set in the snapshot."""
        declared = super().ref
        return declared if declared.uid else self.snapshot.with_uid(declared)

    @lazy
    def replicas(self) -> Sequence[Replica]:
        """Each is made when it is asked for: a step for one of them does not pay for all."""
        return MadeOnDemand(self.replica_count, partial(Replica, self))

    @lazy
    def scheduler(self) -> str:
        """The scheduler of the set's gangs: the first that a clique names, else the configured default."""
        return next((clique.scheduler_name for clique in self.cliques if clique.scheduler_name), self.config.default_scheduler)

    @lazy
    def kai_queue(self) -> str:
        return self.kai_queues[0] if self.kai_queues else ""

    @lazy
    def volcano_queue(self) -> str:
        """A queue that only cliques name counts too (shipped semantics §14.28)."""
        return self.volcano_queues[0] if self.volcano_queues else "default"

    @lazy
    def service_account(self) -> str:
        return names.service_account(self.name)

    @lazy
    def role(self) -> str:
        return names.role(self.name)

    @lazy
    def token_secret(self) -> str:
        return names.token_secret(self.name)

    def live_replicas(self, ref: ObjectRef, declared: int) -> int:
        """The replicas of a clique or scaling group: what the object says, since autoscalers own it; what is declared before it exists.

        A training workload has what is declared, also when somebody got past admission (GREP-0285).
        """
        return declared if self.is_training else self.snapshot.replicas(ref, declared)

    @lazy
    def claims(self) -> list[Claim]:
        """The shared ResourceClaims that the set itself owns."""
        return make_claims(self, self.resource_sharing, self.ref, self.replica_count)

    @lazy
    def unresolved_sharing(self) -> list[SharingRef]:
        """References to claim templates that are neither in the manifest nor among the objects that exist."""
        children: list[ScalingGroupTemplate | CliqueTemplate] = [*self.groups, *self.cliques]
        refs = [*self.resource_sharing, *(ref for child in children for ref in child.resource_sharing)]
        return [ref for ref in refs if self.claim_spec(ref) is None]

    def claim_spec(self, ref: SharingRef) -> Manifest | None:
        """The spec of claims made from the template that is referred to: the manifest's own, else an object of the cluster."""
        own = None if ref.namespace else next((entry for entry in self.claim_templates if entry.name == ref.name), None)
        if own is not None:
            return spec_in_version(own.spec, self.settings.resource_api)
        found = self._claim_template(ref.namespace or self.namespace, ref.name)
        return spec_in_version((found.get("spec") or {}).get("spec") or {}, self.settings.resource_api) if found else None

    def _claim_template(self, namespace: str, name: str) -> Manifest | None:
        """An object of the cluster or of the input; a manifest without a namespace goes where the set without one would."""
        found = self.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", namespace, name)
        if found is None and namespace == self.default_namespace:
            found = self.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", "", name)
        return found


@dataclass(eq=False)
class Replica:
    """One replica of the set: what is scheduled, updated and terminated together.

    `name` is also that of its headless Service and of its base PodGang; at `address` its pods find one another.
    """

    set: ExpandedSet = field(repr=False)
    index: int
    name: str = field(init=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = names.replica(self.set.name, self.index)
        self.address = names.service_address(self.name, self.set.namespace)

    @lazy
    def cliques(self) -> list[Clique]:
        """The cliques that are in no scaling group, in the manifest's order."""
        return [Clique(self.set, self, template) for template in self.set.cliques if template.group is None]

    @lazy
    def scaling_groups(self) -> list[ScalingGroup]:
        return [ScalingGroup(self.set, self, template) for template in self.set.groups]

    @lazy
    def all_cliques(self) -> list[Clique]:
        """The standalone cliques, then those of each replica of each scaling group."""
        members = (clique for group in self.scaling_groups for member in group.members for clique in member.cliques)
        return [*self.cliques, *members] if self.set.groups else self.cliques

    @lazy
    def base_gang(self) -> Gang:
        """Standalone cliques and the first `minAvailable` replicas of each scaling group (shipped semantics §4.1)."""
        members = [member for group in self.scaling_groups for member in group.base_members]
        cliques = [*self.cliques, *(clique for member in members for clique in member.cliques)]
        return Gang(self, self.name, cliques, members=members)

    @lazy
    def scaled_gangs(self) -> list[Gang]:
        """One gang per replica of a scaling group beyond its first `minAvailable`."""
        scaled = (member for group in self.scaling_groups for member in group.members if member.is_scaled)
        return [Gang(self, member.gang_name, member.cliques, is_base=False, members=[member]) for member in scaled]

    @lazy
    def gangs(self) -> list[Gang]:
        return [self.base_gang, *self.scaled_gangs]

    @lazy
    def domains(self) -> list[ComputeDomain]:
        """The ComputeDomains of its pods."""
        return domains_of(self)

    @lazy
    def gangs_with_domains(self) -> frozenset[str]:
        """The names of gangs that own ComputeDomains."""
        return frozenset(domain.owner.name for domain in self.domains if domain.owner.kind == "PodGang")


@dataclass(eq=False)
class ScalingGroup:
    """A PodCliqueScalingGroup of one replica of the set."""

    set: ExpandedSet = field(repr=False)
    replica: Replica = field(repr=False)
    template: ScalingGroupTemplate

    @lazy
    def name(self) -> str:
        return names.scaling_group(self.replica.name, self.template.name)

    @lazy
    def ref(self) -> ObjectRef:
        return self.set.snapshot.with_uid(ObjectRef(API_VERSION, "PodCliqueScalingGroup", self.set.namespace, self.name))

    @lazy
    def min_available(self) -> int:
        return self.template.min_available or 1

    @lazy
    def replicas(self) -> int:
        """The number that the object has now, for autoscalers own it; the template's before it exists."""
        return self.set.live_replicas(self.ref, self.template.replicas if self.template.replicas is not None else 1)

    @lazy
    def _all_members(self) -> list[ScalingGroupReplica]:
        return [ScalingGroupReplica(self, index) for index in range(max(self.replicas, self.min_available))]

    @lazy
    def members(self) -> list[ScalingGroupReplica]:
        """The replicas of the group that should exist."""
        return self._all_members[: self.replicas]

    @lazy
    def is_apart(self) -> bool:
        """Whether each of its replicas is a gang of its own, for the sake of its ComputeDomain (decisions §4)."""
        return self.set.mnnvl.is_apart(self.template)

    @lazy
    def base_members(self) -> list[ScalingGroupReplica]:
        """The replicas that the base gang cannot do without, also while the group is scaled in below them."""
        return [] if self.is_apart else self._all_members[: self.min_available]

    @lazy
    def claims(self) -> list[Claim]:
        """The shared ResourceClaims that the group owns."""
        return make_claims(self.set, self.template.resource_sharing, self.ref, self.replicas)


@dataclass(eq=False)
class ScalingGroupReplica:
    """One replica of a scaling group: a clique of each of its templates."""

    group: ScalingGroup = field(repr=False)
    index: int

    @lazy
    def name(self) -> str:
        return names.scaling_group_replica(self.group.name, self.index)

    @lazy
    def is_scaled(self) -> bool:
        """Whether it has a gang of its own, beyond the base gang."""
        return self.index >= self.group.min_available or self.group.is_apart

    @lazy
    def base_gang_name(self) -> str | None:
        """The gang that must be scheduled before its own, which holds what the set cannot do without; none if there is none."""
        is_needed = self.index < self.group.min_available or not self.group.set.mnnvl.has_base_gang
        return None if is_needed else self.group.replica.name

    @lazy
    def gang_name(self) -> str:
        """With its own index where each replica is a gang (annotation design, Example 3), else counted from `minAvailable` on."""
        if self.group.is_apart:
            return self.name
        if not self.is_scaled:
            return self.group.replica.name
        return names.scaled_gang(self.group.name, self.index, self.group.min_available)

    @lazy
    def cliques(self) -> list[Clique]:
        """In the order of the group's `cliqueNames`."""
        group = self.group
        return [Clique(group.set, group.replica, template, self) for template in group.template.cliques]


@dataclass(eq=False)
class Clique:
    """A PodClique: one clique template in one replica of the set, or of a scaling group (`member`).

    What every rule asks for is worked out at once: there may be thousands of cliques. `base_gang_name` is the gang that must be
    scheduled before this clique's, if that is a scaled one. `replicas` is the number of pods that the object asks for now, since
    autoscalers own it; the template's before it exists.
    """

    set: ExpandedSet = field(repr=False)
    replica: Replica = field(repr=False)
    template: CliqueTemplate
    member: ScalingGroupReplica | None = field(default=None, repr=False)
    name: str = field(init=False)
    gang_name: str = field(init=False)
    base_gang_name: str | None = field(init=False)
    ref: ObjectRef = field(init=False)
    replicas: int = field(init=False)
    min_available: int = field(init=False)

    def __post_init__(self) -> None:
        owner: Replica | ScalingGroupReplica = self.replica if self.member is None else self.member
        self.name = names.clique(owner.name, self.template.name)
        self.gang_name = self.replica.name if self.member is None else self.member.gang_name
        self.base_gang_name = None if self.member is None else self.member.base_gang_name
        self.ref = self.set.snapshot.with_uid(ObjectRef(API_VERSION, "PodClique", self.set.namespace, self.name))
        self.replicas = self.set.live_replicas(self.ref, self.template.replicas)
        self.min_available = self.template.min_available or 0

    @property
    def owner(self) -> ObjectRef:
        """The set, or the scaling group that the clique belongs to."""
        return self.set.ref if self.member is None else self.member.group.ref

    @lazy
    def gang(self) -> Gang:
        return next(gang for gang in self.replica.gangs if gang.name == self.gang_name)

    @property
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers of its pods that ask for GPUs."""
        return self.template.gpu_containers

    @property
    def uses_gpu(self) -> bool:
        """Whether its pods ask for GPUs."""
        return self.template.uses_gpu

    @property
    def membership(self) -> Membership | None:
        """The ComputeDomain that its pods join, as declared."""
        return self.set.mnnvl.membership(self.template)

    @property
    def is_wanted(self) -> bool:
        """Whether it should exist: false while its scaling group is scaled in below `minAvailable`, though its gang names it."""
        return self.member is None or self.member.index < self.member.group.replicas

    @lazy
    def pod_claim(self) -> PodClaim | None:
        """How its pods refer to the claim of their ComputeDomain."""
        return pod_claim_of(self)

    @property
    def scheduler(self) -> str:
        """The scheduler of its pods."""
        return self.template.scheduler_name or self.set.config.default_scheduler

    @lazy
    def dependencies(self) -> list[Dependency]:
        return dependencies_of(self)

    @lazy
    def existing_pods(self) -> list[Manifest]:
        """Pods of this very PodClique that exist and are not being deleted."""
        return [pod for pod in self.set.snapshot.owned("Pod", self.ref) if not is_terminating(pod)]

    @lazy
    def pods(self) -> list[Pod]:
        """The pods that should exist."""
        return pods_of(self)

    @lazy
    def claims(self) -> list[Claim]:
        """The shared ResourceClaims that the clique owns."""
        return make_claims(self.set, self.template.resource_sharing, self.ref, self.replicas)

    @lazy
    def claim_names(self) -> list[str]:
        """The shared ResourceClaims that every pod of the clique uses, whoever owns them."""
        return claim_names_of(self)

    def pod_claim_names(self, index: int) -> list[str]:
        """The shared ResourceClaims that only the pod with this index uses."""
        return pod_claim_names_of(self, index) if self.template.resource_sharing else []
