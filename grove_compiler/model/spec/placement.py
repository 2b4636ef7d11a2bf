"""What a set asks of the cluster's topology: its constraints at every level, and the topology that gives their domains a meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grove_compiler.model.inputs.topology import BINDING, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, Topology, find_topology
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, DomainUse, NestedConstraint, domain_uses, read_constraint

if TYPE_CHECKING:
    from grove_compiler.model.spec.declared import CliqueTemplate, PodCliqueSet, ScalingGroupTemplate

CLUSTER_TOPOLOGY_NAME_PATH = "spec.template.clusterTopologyName"


@dataclass(slots=True, eq=False)
class NamedTopology:
    """A topology's name, and the path of the field that names it."""

    name: str
    path: str


@dataclass(eq=False)
class Placement:
    """The constraints of a declared set. `clusterTopologyName` is the design's way to name the topology, `topologyName` the shipped one."""

    set: PodCliqueSet = field(repr=False)

    @lazy
    def constraint(self) -> Constraint | None:
        """The constraint of each replica of the set as a whole."""
        return read_constraint(self.set.topology_constraint, "spec.template.topologyConstraint")

    @lazy
    def group_constraints(self) -> dict[str, Constraint]:
        """The constraints of scaling groups, by the group's name."""
        return {group.name: found for group in self.set.groups if (found := _of(group)) is not None}

    @lazy
    def clique_constraints(self) -> dict[str, Constraint]:
        """The constraints of cliques, by the clique's name."""
        return {clique.name: found for clique in self.set.cliques if (found := _of(clique)) is not None}

    @lazy
    def constraints(self) -> list[Constraint]:
        """All of them in the order in which a topology's name is looked for: the set's, the groups', the cliques' (shipped §4.3)."""
        own = [self.constraint] if self.constraint else []
        return [*own, *self.group_constraints.values(), *self.clique_constraints.values()]

    @lazy
    def cluster_topology_name(self) -> str:
        return self.set.template.get("clusterTopologyName") or ""

    @lazy
    def names(self) -> list[NamedTopology]:
        """Every explicit name of a topology."""
        design = [NamedTopology(self.cluster_topology_name, CLUSTER_TOPOLOGY_NAME_PATH)] if self.cluster_topology_name else []
        return design + [
            NamedTopology(constraint.topology_name, f"{constraint.path}.topologyName")
            for constraint in self.constraints
            if constraint.topology_name
        ]

    @lazy
    def name(self) -> str:
        """The topology that the set is placed by: the first that is named, else the default; empty without any constraint."""
        if not self.constraints:
            return ""
        return self.names[0].name if self.names else DEFAULT_TOPOLOGY

    @property
    def kind(self) -> str:
        """The kind of topology that the set means by its name."""
        return BINDING if self.names and not self.cluster_topology_name else CLUSTER_TOPOLOGY

    @property
    def choice(self) -> tuple[str, str]:
        """Kind and name of the topology that the set means; both tell whether an update chooses another one."""
        return self.kind, self.name

    @lazy
    def name_path(self) -> str:
        """The field that decides the name."""
        return self.names[0].path if self.names else self.constraints[0].path if self.constraints else ""

    def find(self, topologies: list[Topology]) -> Topology | None:
        """The set's topology among those of the cluster: for `topologyName` a binding is looked for first, else a ClusterTopology."""
        return find_topology(topologies, self.name, self.kind) if self.name else None

    @lazy
    def unnamed(self) -> list[Constraint]:
        """Constraints in the shipped form (`pack`) for which no topology is named, neither there nor where they inherit from (§6.2)."""
        if self.cluster_topology_name:
            return []
        named = self.constraint is not None and self.constraint.topology_name is not None
        groups = [found for found in self.group_constraints.values() if not (found.topology_name or named)]
        cliques = [
            found for name, found in self.clique_constraints.items() if not (found.topology_name or self._inherits_name(name, named))
        ]
        own = [self.constraint] if self.constraint and not named else []
        return [constraint for constraint in [*own, *groups, *cliques] if constraint.uses_pack]

    def _inherits_name(self, clique: str, from_set: bool) -> bool:
        group = next((template.group for template in self.set.cliques if template.name == clique), None)
        above = self.group_constraints.get(group.name) if group else None
        return from_set or (above is not None and above.topology_name is not None)

    @lazy
    def domain_uses(self) -> list[DomainUse]:
        """Every domain that is asked for."""
        return domain_uses(self.constraints)

    @lazy
    def nested(self) -> list[NestedConstraint]:
        """Pairs of a constraint and one inside it: set and groups, set and cliques, a group and its cliques."""
        pairs = []
        if self.constraint:
            inner = [*self.group_constraints.values(), *self.clique_constraints.values()]
            pairs = [NestedConstraint(self.constraint, constraint) for constraint in inner]
        for group in self.set.groups:
            outer = self.group_constraints.get(group.name)
            members = (self.clique_constraints.get(clique.name) for clique in group.cliques)
            pairs += [NestedConstraint(outer, inner) for inner in members if outer and inner]
        return pairs


def _of(holder: CliqueTemplate | ScalingGroupTemplate) -> Constraint | None:
    return read_constraint(holder.topology_constraint, f"{holder.path}.topologyConstraint")
