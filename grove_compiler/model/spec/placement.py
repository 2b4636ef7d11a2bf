"""What a set asks of the cluster's topology: its constraints at every level, and the topology that gives their domains a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, DomainUse, NestedConstraint, domain_uses, read_constraint
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.model.spec.topology import BINDING, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, Topology, find_topology

Known = TypeVar("Known", bound=Topology)

CLUSTER_TOPOLOGY_NAME_PATH = "spec.template.clusterTopologyName"


@dataclass(slots=True, eq=False)
class NamedTopology:
    """A topology's name, and the path of the field that names it."""

    name: str
    path: str


@dataclass(eq=False)
class Placement:
    """The constraints in `template`, a set's own, and in its cliques and groups.

    `clusterTopologyName` is the design's way to name the topology, `topologyName` the shipped one.
    """

    template: Manifest = field(repr=False)
    cliques: list[CliqueTemplate] = field(repr=False)
    groups: list[ScalingGroupTemplate] = field(repr=False)

    @lazy
    def constraint(self) -> Constraint | None:
        """The constraint of each replica of the set as a whole."""
        return read_constraint(self.template.get("topologyConstraint"), "spec.template.topologyConstraint")

    @lazy
    def group_constraints(self) -> dict[str, Constraint]:
        """The constraints of scaling groups, by the group's name."""
        return {group.name: group.constraint for group in self.groups if group.constraint is not None}

    @lazy
    def clique_constraints(self) -> dict[str, Constraint]:
        """The constraints of cliques, by the clique's name."""
        return {clique.name: clique.constraint for clique in self.cliques if clique.constraint is not None}

    @lazy
    def constraints(self) -> list[Constraint]:
        """All of them in the order in which a topology's name is looked for: the set's, the groups', the cliques' (shipped §4.3)."""
        own = [self.constraint] if self.constraint else []
        return [*own, *self.group_constraints.values(), *self.clique_constraints.values()]

    @lazy
    def cluster_topology_name(self) -> str:
        return self.template.get("clusterTopologyName") or ""

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

    def find(self, topologies: Sequence[Known]) -> Known | None:
        """Returns the set's topology among those of the cluster: a binding comes first for `topologyName`, else a ClusterTopology."""
        return find_topology(topologies, self.name, self.kind) if self.name else None

    @lazy
    def unnamed(self) -> list[Constraint]:
        """Constraints in the shipped form (`pack`) for which no topology is named, neither there nor where they inherit from (§6.2)."""
        if self.cluster_topology_name:
            return []
        own = [self.constraint] if self.constraint else []
        named = any(constraint.topology_name for constraint in own)
        groups = [] if named else list(self.group_constraints.values())
        cliques = [] if named else [one.constraint for one in self.cliques if one.constraint and not _names_topology(one.group)]
        return [one for one in [*own, *groups, *cliques] if one.uses_pack and not one.topology_name]

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
        for group in self.groups:
            outer = self.group_constraints.get(group.name)
            members = (self.clique_constraints.get(clique.name) for clique in group.cliques)
            pairs += [NestedConstraint(outer, inner) for inner in members if outer and inner]
        return pairs


def _names_topology(group: ScalingGroupTemplate | None) -> bool:
    return group is not None and group.constraint is not None and group.constraint.topology_name is not None
