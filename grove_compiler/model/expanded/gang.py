"""PodGangs: which cliques start together, how many pods of each, and where they may be placed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.pods import count_live
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, translate

if TYPE_CHECKING:
    from grove_compiler.model.expanded.derived import Clique, Replica, ScalingGroupReplica

PODGANG_API_VERSION = "scheduler.grove.io/v1alpha1"


@dataclass(slots=True, eq=False)
class PodGroup:
    """The pods of one clique in a gang. `pod_names` are sorted.

    `constraint` holds the clique's topology constraint in node label keys; `parent` names the `ConstraintGroup` that it is in.
    """

    name: str
    clique: Clique
    min_available: int
    pod_names: list[str]
    constraint: Manifest | None
    parent: str | None


@dataclass(slots=True, eq=False)
class ConstraintGroup:
    """The pod groups of one replica of a scaling group that has a topology constraint, which may mean nothing in this cluster."""

    name: str
    pod_group_names: list[str]
    constraint: Manifest | None


@dataclass(eq=False)
class Gang:
    """A PodGang: cliques whose first pods are scheduled together or not at all. `members` are the scaling groups' replicas in it."""

    replica: Replica = field(repr=False)
    name: str
    cliques: list[Clique] = field(repr=False)
    is_base: bool = True
    members: list[ScalingGroupReplica] = field(default_factory=list, repr=False)

    @lazy
    def ref(self) -> ObjectRef:
        owner = self.replica.set
        return owner.snapshot.with_uid(ObjectRef(PODGANG_API_VERSION, "PodGang", owner.namespace, self.name))

    @lazy
    def groups(self) -> list[PodGroup]:
        parents = {clique: part.name for part in self.constraint_groups for clique in part.pod_group_names}
        return [self._group(clique, parents.get(clique.name)) for clique in self.cliques]

    def _group(self, clique: Clique, parent: str | None) -> PodGroup:
        asked = self.replica.set.placement.clique_constraints.get(clique.template.name)
        return PodGroup(clique.name, clique, clique.min_available, self._pod_names(clique), self._translate(asked), parent)

    @lazy
    def constraint(self) -> Manifest | None:
        """The constraint of the gang as a whole: a scaled gang has its scaling group's, else it inherits the set's (shipped §4.3)."""
        placement = self.replica.set.placement
        own = None if self.is_base else placement.group_constraints.get(self.members[0].group.template.name)
        return self._translate(own or placement.constraint)

    @lazy
    def constraint_groups(self) -> list[ConstraintGroup]:
        """The constraints of scaling groups inside a base gang; a scaled gang has none, for there it is the gang's own."""
        owner = self.replica.set
        asked = owner.placement.group_constraints if self.is_base and owner.config.topology_enabled else {}
        return [
            ConstraintGroup(member.name, [clique.name for clique in member.cliques], self._translate(asked[member.group.template.name]))
            for member in self.members
            if member.group.template.name in asked
        ]

    @lazy
    def topology_name(self) -> str | None:
        """The topology whose labels the gang's constraints name; none when it has no constraint that means anything."""
        parts = [self.constraint, *(group.constraint for group in self.constraint_groups), *(group.constraint for group in self.groups)]
        topology = self.replica.set.topology
        return topology.name if topology is not None and any(parts) else None

    @lazy
    def kai_topology(self) -> str | None:
        """What KAI calls that topology: its Topology may be somebody else's and have another name."""
        topology = self.replica.set.topology
        return topology.kai_name if topology is not None and self.topology_name else None

    def _translate(self, constraint: Constraint | None) -> Manifest | None:
        return translate(constraint, self.replica.set.topology) if constraint is not None else None

    @lazy
    def min_member(self) -> int:
        """Pods that must be placed at once."""
        return sum(group.min_available for group in self.groups)

    @lazy
    def is_initialized(self) -> bool:
        """Whether every clique exists and has all its pods, or did so once (shipped semantics §4.4)."""
        snapshot = self.replica.set.snapshot
        live = snapshot.live(self.ref)
        conditions = ((live or {}).get("status") or {}).get("conditions") or []
        if any(condition.get("type") == "Initialized" and condition.get("status") == "True" for condition in conditions):
            return True
        return all(
            snapshot.live(clique.ref) is not None and count_live(clique.existing_pods, self.name) >= clique.replicas
            for clique in self.cliques
        )

    def _pod_names(self, clique: Clique) -> list[str]:
        """All pods of the clique when this compilation makes them, otherwise those that exist."""
        if self.replica.set.settings.pods:
            return sorted(pod.name for pod in clique.pods)
        return sorted(pod["metadata"]["name"] for pod in clique.existing_pods)
