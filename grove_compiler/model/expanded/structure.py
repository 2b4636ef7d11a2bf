"""Expands a set into replicas, scaling groups and cliques, with their names and indices.

Everything here follows from a valid set in its context, and is computed lazily. What these parts become (gangs, pods, claims, domains,
dependencies) are functions of them, in files of their own. The classes are in one file because they refer to each other in both
directions: a clique knows its replica, and a replica its cliques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import Any, Protocol

from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import POD_HASH_LABEL
from grove_compiler.model import names
from grove_compiler.model.expanded.context import SetDecisions, SetInContext
from grove_compiler.model.lazy import LazySequence, is_untracked, lazy
from grove_compiler.model.spec.mnnvl import Membership
from grove_compiler.model.spec.pod_spec import GpuContainer
from grove_compiler.model.spec.podcliqueset import API_VERSION
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record


class UpdateDecisions(Protocol):
    @staticmethod
    def may_be_updated(clique: Clique) -> bool:
        """Decides whether a PodClique with an older template, and its new pods, switch to the declared template now."""


@record(slots=False)
class ExpandedSet(SetInContext):
    """A PodCliqueSet with everything that exists for it (`set` in rules)."""

    @lazy
    def accepted_findings(self) -> Sequence[AcceptedFinding]:
        """The errors of validation that it has run with, and that therefore do not hold it; none offline."""
        return []

    @lazy
    def is_valid(self) -> bool:
        """Whether validation finds no error in it, also of those that are left to the API server."""
        return True

    @lazy
    def is_last_valid(self) -> bool:
        """Whether it is followed as it was last valid, since an edit of it is held."""
        return False

    @lazy
    def _cached_tally(self) -> Any:
        """The tally of earlier steps of the same generation (`use_cached_tally`); none without one."""
        return None

    @lazy
    def replicas(self) -> Sequence[Replica]:
        """The replicas, each created on demand, so that a step for one of them does not pay for all."""
        return LazySequence(self.replica_count, partial(Replica, self))


@record
class AcceptedFinding:
    """An error of the rule `code` that the set has run with. `message` is empty once it is repaired."""

    code: str
    path: str
    message: str


@record(slots=False)
class Replica:
    """One replica of the set, which is scheduled, updated and terminated as a whole.

    `name` is also that of its headless Service and of its base PodGang.
    """

    set: ExpandedSet = field(repr=False)
    index: int
    name: str = field(init=False)

    def __post_init__(self) -> None:
        if is_untracked(self, self.set):
            return
        self.name = names.part_of(self.set.name, self.index)

    @lazy
    def cliques(self) -> list[Clique]:
        """The cliques that are in no scaling group, in the manifest's order."""
        return [Clique(self.set, self, template) for template in self.set.standalone_cliques]

    @lazy
    def scaling_groups(self) -> list[ScalingGroup]:
        return [ScalingGroup(self.set, self, template) for template in self.set.groups]

    @lazy
    def all_cliques(self) -> list[Clique]:
        """The standalone cliques, then those of each replica of each scaling group."""
        members = (clique for group in self.scaling_groups for member in group.members for clique in member.cliques)
        return [*self.cliques, *members] if self.set.groups else self.cliques


@record(slots=False)
class ScalingGroup:
    """A PodCliqueScalingGroup of one replica of the set."""

    set: ExpandedSet = field(repr=False)
    replica: Replica = field(repr=False)
    template: ScalingGroupTemplate

    @lazy
    def name(self) -> str:
        return names.part_of(self.replica.name, self.template.name)

    @lazy
    def ref(self) -> ObjectRef:
        return self.set.snapshot.with_uid(ObjectRef(API_VERSION, "PodCliqueScalingGroup", self.set.namespace, self.name))

    @lazy
    def min_available(self) -> int:
        return self.template.min_available or 1

    @lazy
    def declared_replicas(self) -> int:
        """The number of replicas that the set declares for it."""
        return self.template.replicas if self.template.replicas is not None else 1

    @lazy
    def replicas(self) -> int:
        """The desired number of replicas of the group, by the rule `live_replicas`."""
        return self.set.replicas_of(self.ref, self.declared_replicas, self.min_available)

    @lazy
    def _all_members(self) -> list[ScalingGroupReplica]:
        return [ScalingGroupReplica(self, index) for index in range(max(self.replicas, self.min_available))]

    @lazy
    def members(self) -> list[ScalingGroupReplica]:
        """The replicas of the group that should exist."""
        return self._all_members[: self.replicas]

    @lazy
    def gang_per_replica(self) -> bool:
        """Whether each of its replicas is a gang of its own, because it has its own ComputeDomain."""
        return self.set.mnnvl.gang_per_replica(self.template)

    @lazy
    def base_members(self) -> list[ScalingGroupReplica]:
        """The first `minAvailable` replicas, which are in the base gang, even while the group is scaled to zero."""
        return [] if self.gang_per_replica else self._all_members[: self.min_available]


@record(slots=False)
class ScalingGroupReplica:
    """One replica of a scaling group: a clique of each of its templates."""

    group: ScalingGroup = field(repr=False)
    index: int

    @lazy
    def name(self) -> str:
        return names.part_of(self.group.name, self.index)

    @lazy
    def is_scaled(self) -> bool:
        """Whether it has a gang of its own besides the base gang."""
        return self.index >= self.group.min_available or self.group.gang_per_replica

    @lazy
    def base_gang_name(self) -> str | None:
        """The base gang, which must be scheduled before its own gang; none for a replica that is needed itself."""
        is_needed = self.index < self.group.min_available or not self.group.set.mnnvl.has_base_gang
        return None if is_needed else self.group.replica.name

    @lazy
    def gang_name(self) -> str:
        """The name of its gang.

        Scaled gangs count from 0 beyond `minAvailable` (§14.2), by replica where each replica is a gang (annotation design, Example 3).
        """
        if self.group.gang_per_replica:
            return self.name
        if not self.is_scaled:
            return self.group.replica.name
        return names.part_of(self.group.name, self.index - self.group.min_available)

    @lazy
    def cliques(self) -> list[Clique]:
        """Its cliques, in the order of the group's `cliqueNames`."""
        group = self.group
        return [Clique(group.set, group.replica, template, self) for template in group.template.cliques]


@record(slots=False)
class Clique:
    """A PodClique: one clique template in one replica of the set, or of a scaling group (`member`).

    What nearly every rule reads is computed eagerly, since there may be thousands of cliques. `declared` is the set's current template.
    `base_gang_name` is the gang that must be scheduled before this clique's, if that is a scaled one. `replicas` is its number of pods,
    by the rule `live_replicas`.
    """

    set: ExpandedSet = field(repr=False)
    replica: Replica = field(repr=False)
    declared: CliqueTemplate
    member: ScalingGroupReplica | None = field(default=None, repr=False)
    name: str = field(init=False)
    gang_name: str = field(init=False)
    base_gang_name: str | None = field(init=False)
    ref: ObjectRef = field(init=False)
    replicas: int = field(init=False)
    min_available: int = field(init=False)

    def __post_init__(self) -> None:
        if is_untracked(self, self.set):
            return
        owner: Replica | ScalingGroupReplica = self.replica if self.member is None else self.member
        self.name = names.part_of(owner.name, self.declared.name)
        self.gang_name = self.replica.name if self.member is None else self.member.gang_name
        self.base_gang_name = None if self.member is None else self.member.base_gang_name
        self.ref = self.set.snapshot.with_uid(ObjectRef(API_VERSION, "PodClique", self.set.namespace, self.name))
        self.replicas = self.set.replicas_of(self.ref, self.declared.replicas)
        self.min_available = self.declared.min_available or 0
        if not self.set.revisions:  # without records only the declared template exists; skipping the lazy path saves 2 % of a compilation
            self.template = self.declared

    @lazy
    def template(self) -> CliqueTemplate:
        """The template of its PodClique and its new pods: the declared one, or an older one until the rules let it be updated."""
        return self._waiting or self.declared

    @lazy
    def template_hash(self) -> str:
        """The hash of `template`, the label of its PodClique and its new pods."""
        return self.live_hash if self._waiting else self.pod_template_hash

    @lazy
    def live_hash(self) -> str:
        """The hash of the live PodClique's template; empty without a PodClique."""
        live = self.set.snapshot.live(self.ref)
        return (((live or {}).get("metadata") or {}).get("labels") or {}).get(POD_HASH_LABEL) or ""

    @lazy
    def reported_hash(self) -> str:
        """The hash of its declared template where the live PodClique reports that all its pods have that; else empty."""
        reported = status_of(self.set.snapshot.live(self.ref)).get("currentPodTemplateHash")
        return self.pod_template_hash if reported == self.pod_template_hash else ""

    @lazy
    def _waiting(self) -> CliqueTemplate | None:
        """The recorded template that it keeps for now; none where it has the declared one, or may switch to it."""
        # The order matters: without records or a PodClique, no hash has to be computed.
        if not self.set.revisions or not self.live_hash or self.live_hash == self.pod_template_hash:
            return None
        recorded = self.set.recorded_template(self.declared, self.live_hash)
        return None if recorded is None or self.set.decisions.of(UpdateDecisions).may_be_updated(self) else recorded

    @property
    def owner(self) -> ObjectRef:
        """The owner of its PodClique: the scaling group that it belongs to, else the set."""
        return self.set.ref if self.member is None else self.member.group.ref

    @property
    def is_desired(self) -> bool:
        """Whether it should exist: false while its scaling group is scaled to zero, although its gang still names it."""
        return self.member is None or self.member.index < self.member.group.replicas

    @property
    def is_idle(self) -> bool:
        """Whether it, or its scaling group, is scaled to zero, so that it has no pods and nothing waits for any."""
        return not self.is_desired or not self.replicas

    @property
    def needed(self) -> int:
        """How many of its pods its gang needs: `minAvailable`, or all that are declared while it is scaled below that."""
        return min(self.min_available, self.replicas)

    @property
    def expected_pods(self) -> int:
        """How many ready pods of it a new pod that starts after it waits for: `minAvailable`, or fewer if it is scaled in below that."""
        if not self.is_desired:
            return 0
        return self.needed if self.ref.uid else self.min_available

    @property
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers of its pods that request GPUs."""
        return self.template.gpu_containers

    @property
    def uses_gpu(self) -> bool:
        """Whether its pods request GPUs."""
        return self.template.uses_gpu

    @property
    def pod_template_hash(self) -> str:
        """The hash of its declared template, which changes when its pods have to be replaced."""
        return self.set.pod_template_hash(self.declared)

    @lazy
    def scheduler(self) -> str:
        """The scheduler of its pods, by the rule `scheduler_of`."""
        return self.set.decisions.of(SetDecisions).scheduler_of(self.template, self.set.config)

    @property
    def membership(self) -> Membership | None:
        """The declared membership of its pods in a ComputeDomain; none when they join none."""
        return self.set.mnnvl.membership(self.template)
