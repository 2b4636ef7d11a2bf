"""Models PodGangs: which cliques of a replica start together, with how many pods, and their topology constraints."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import is_true
from grove_compiler.labels import GANG_LABEL
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.attempts.clique_attempt import failed_before_others_run, gone_succeeded_pods, succeeded_pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, Replica, ScalingGroupReplica
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.model.spec.constraints import Constraint, translate
from grove_compiler.record import record

PODGANG_API_VERSION = "scheduler.grove.io/v1alpha1"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"


class GangDecisions(Protocol):
    @staticmethod
    def gang_state(gang: Gang) -> str:
        """Decides the next state of a gang in the life `gates/gang`: Forming or Initialized."""


@record
class PodGroup:
    """The pods of one clique in a gang.

    `constraint` holds the clique's topology constraint in node label keys; `parent` names the `ConstraintGroup` that it is in.
    """

    name: str
    clique: Clique
    min_available: int
    constraint: Manifest | None
    parent: str | None

    @property
    def min_running(self) -> int:
        """How many of its pods have to be on nodes together: those that have ended are done, whether their pods are left or not.

        A scheduler that waited for one that has failed would never place another that is created again after that.
        """
        return max(self.clique.needed - succeeded_pods(self.clique) - failed_before_others_run(self.clique), 0)

    @property
    def min_existing(self) -> int:
        """The same where pods that have succeeded count for as long as they exist: they are only left out once they are gone."""
        return max(self.clique.needed - gone_succeeded_pods(self.clique) - failed_before_others_run(self.clique), 0)


@record
class ConstraintGroup:
    """The pod groups of one scaling-group replica with a topology constraint, which is none if the cluster has none of its domains."""

    name: str
    pod_group_names: list[str]
    constraint: Manifest | None


@record(slots=False)
class Gang:
    """A PodGang: cliques whose first pods are scheduled together or not at all. `members` are the scaling groups' replicas in it."""

    set: ExpandedSet = field(repr=False)
    name: str
    cliques: list[Clique] = field(repr=False)
    is_base: bool = True
    members: list[ScalingGroupReplica] = field(default_factory=list, repr=False)

    @lazy
    def ref(self) -> ObjectRef:
        return self.set.snapshot.with_uid(ObjectRef(PODGANG_API_VERSION, "PodGang", self.set.namespace, self.name))

    @lazy
    def groups(self) -> list[PodGroup]:
        parents = {clique: part.name for part in self.constraint_groups for clique in part.pod_group_names}
        return [
            PodGroup(clique.name, clique, clique.min_available, self._translate(clique.template.constraint), parents.get(clique.name))
            for clique in self.cliques
        ]

    @lazy
    def constraint(self) -> Manifest | None:
        """The constraint of the gang as a whole: a scaled gang has its scaling group's, else it inherits the set's."""
        own = None if self.is_base else self.members[0].group.template.constraint
        return self._translate(own or self.set.placement.constraint)

    @lazy
    def constraint_groups(self) -> list[ConstraintGroup]:
        """The constraints of scaling groups inside a base gang; a scaled gang has none, for there it is the gang's own."""
        members = self.members if self.is_base and self.set.config.topology_enabled else []
        return [
            ConstraintGroup(member.name, [clique.name for clique in member.cliques], self._translate(member.group.template.constraint))
            for member in members
            if member.group.template.constraint is not None
        ]

    @lazy
    def topology_name(self) -> str | None:
        """The topology whose labels the gang's constraints use; none if no constraint has an effect."""
        topology = self.set.topology
        if topology is None:
            return None
        parts = [self.constraint, *(group.constraint for group in self.constraint_groups), *(group.constraint for group in self.groups)]
        return topology.name if any(parts) else None

    @lazy
    def kai_topology(self) -> str | None:
        """The name of the KAI Topology for that topology, which differs from its own if others created it."""
        topology = self.set.topology
        return topology.kai_name if topology is not None and self.topology_name else None

    def _translate(self, constraint: Constraint | None) -> Manifest | None:
        return translate(constraint, self.set.topology) if constraint is not None else None

    @lazy
    def awake_groups(self) -> list[PodGroup]:
        """The groups that are not scaled to zero: a scheduler that waits for pods of an idle one would evict the others (grove #676)."""
        return [group for group in self.groups if not group.clique.is_idle] or self.groups

    @lazy
    def awake_constraint_groups(self) -> list[ConstraintGroup]:
        """The constraint groups, without idle pod groups."""
        awake = {group.name for group in self.awake_groups}
        parts = [(part, [name for name in part.pod_group_names if name in awake]) for part in self.constraint_groups]
        return [ConstraintGroup(part.name, names, part.constraint) for part, names in parts if names]

    @lazy
    def existing_groups(self) -> list[PodGroup]:
        """The awake groups, without those whose pods have succeeded and are gone; all where no other is left."""
        return [group for group in self.awake_groups if group.min_existing] or self.awake_groups

    @lazy
    def min_member(self) -> int:
        """The number of pods that must be scheduled together, but at least 1, which schedulers require."""
        return max(sum(group.min_running for group in self.awake_groups), 1)

    @lazy
    def min_existing(self) -> int:
        """The same where pods that have succeeded count for as long as they exist."""
        return max(sum(group.min_existing for group in self.awake_groups), 1)

    @lazy
    def is_initialized(self) -> bool:
        """Whether it is ready for its scheduler, by the life `gates/gang`."""
        return self.set.decisions.of(GangDecisions).gang_state(self) == "Initialized"

    @lazy
    def was_initialized(self) -> bool:
        """Whether its live condition `Initialized` is true."""
        return is_true(self.set.snapshot.live(self.ref), "Initialized")

    @lazy
    def has_all_pods(self) -> bool:
        """Whether all its cliques, except those of a group that is scaled to zero, have all their pods with the gang's label.

        Pods of a training workload that have succeeded and are gone are not created again, so that nobody waits for them.
        """
        return all(self._has_pods(clique) for clique in self.cliques if clique.is_desired)

    def _has_pods(self, clique: Clique) -> bool:
        short = clique.replicas - sum(pod.labels.get(GANG_LABEL) == self.name for pod in attempt_pods(clique))
        return short <= gone_succeeded_pods(clique) and self.set.snapshot.live(clique.ref) is not None

    @lazy
    def has_ungated_pods(self) -> bool:
        """Whether the scheduling gate of any pod was removed, which means that all pods have existed."""
        return any(not pod.is_gated for clique in self.cliques for pod in attempt_pods(clique))


@memoized
def base_gang(replica: Replica) -> Gang:
    """Returns the gang of the standalone cliques and of the first `minAvailable` replicas of each scaling group."""
    members = [member for group in replica.scaling_groups for member in group.base_members]
    cliques = [*replica.cliques, *(clique for member in members for clique in member.cliques)]
    return Gang(replica.set, replica.name, cliques, members=members)


@memoized
def scaled_gangs(replica: Replica) -> list[Gang]:
    """Returns one gang for each replica of a scaling group beyond its first `minAvailable`."""
    scaled = (member for group in replica.scaling_groups for member in group.members if member.is_scaled)
    return [Gang(replica.set, member.gang_name, member.cliques, is_base=False, members=[member]) for member in scaled]


@memoized
def gangs(replica: Replica) -> list[Gang]:
    """Returns all gangs of a replica, the base gang first."""
    return [base_gang(replica), *scaled_gangs(replica)]


@memoized
def gangs_by_name(replica: Replica) -> dict[str, Gang]:
    """Returns all gangs of a replica by their names."""
    return {gang.name: gang for gang in gangs(replica)}


def gang_of(clique: Clique) -> Gang:
    """Returns the gang that a clique's pods are scheduled in."""
    return gangs_by_name(clique.replica)[clique.gang_name]


@memoized
def queued_pods(replica: Replica) -> int:
    """Returns how many pods of a replica name a Kueue queue; they form one of Kueue's pod groups."""
    return sum(clique.replicas for clique in replica.all_cliques if clique.template.labels.get(KUEUE_QUEUE))
