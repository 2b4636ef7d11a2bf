"""Models how a set is placed: its topology constraints at every level, and the topology that defines their domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, NestedConstraint, constraint_in
from grove_compiler.model.spec.mention import Mention
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.model.spec.topology import BINDING, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, Topology, find_topology
from grove_compiler.record import record

Known = TypeVar("Known", bound=Topology)

CLUSTER_TOPOLOGY_NAME_PATH = "spec.template.clusterTopologyName"


@record(slots=False)
class Placement:
    """The constraints in `manifest`, which is a set's `spec.template`, and in its cliques and groups.

    `clusterTopologyName` is the design's way to name the topology, `topologyName` the upstream one.
    """

    manifest: Manifest = field(repr=False)
    cliques: list[CliqueTemplate] = field(repr=False)
    groups: list[ScalingGroupTemplate] = field(repr=False)

    cluster_topology_name = declared(str, "clusterTopologyName")

    @lazy
    def constraint(self) -> Constraint | None:
        """The constraint of each replica of the set as a whole."""
        return constraint_in(self.manifest, "spec.template", "PodCliqueSet")

    @lazy
    def constraints(self) -> list[Constraint]:
        """All constraints, in the order in which a topology's name is looked up: the set's, the groups', the cliques'."""
        parts = [self.constraint, *(group.constraint for group in self.groups), *(clique.constraint for clique in self.cliques)]
        return [constraint for constraint in parts if constraint is not None]

    @lazy
    def names(self) -> list[Mention]:
        """Every topology that is named explicitly."""
        design = [Mention(self.cluster_topology_name, CLUSTER_TOPOLOGY_NAME_PATH)] if self.cluster_topology_name else []
        return design + [
            Mention(constraint.topology_name, f"{constraint.path}.topologyName")
            for constraint in self.constraints
            if constraint.topology_name
        ]

    @lazy
    def name(self) -> str:
        """The name of the set's topology: the first one given, else the default; empty without any constraint."""
        if not self.constraints:
            return ""
        return self.names[0].name if self.names else DEFAULT_TOPOLOGY

    @property
    def kind(self) -> str:
        """The kind of topology that is looked up first for the name."""
        return BINDING if self.names and not self.cluster_topology_name else CLUSTER_TOPOLOGY

    @property
    def choice(self) -> tuple[str, str]:
        """Kind and name of the topology; an update that changes either refers to another one."""
        return self.kind, self.name

    @lazy
    def name_path(self) -> str:
        """The path of the field that determines the name."""
        return self.names[0].path if self.names else self.constraints[0].path if self.constraints else ""

    def find(self, topologies: Sequence[Known]) -> Known | None:
        """Returns the set's topology among those of the cluster: a binding comes first for `topologyName`, else a ClusterTopology."""
        return find_topology(topologies, self.name, self.kind) if self.name else None

    @lazy
    def unnamed(self) -> list[Constraint]:
        """Constraints in upstream's form (`pack`) that neither name a topology nor inherit one."""
        if self.cluster_topology_name:
            return []
        parts = [self.constraint]
        if self.constraint is None or not self.constraint.topology_name:
            parts += [group.constraint for group in self.groups]
            parts += [clique.constraint for clique in self.cliques if not _names_topology(clique.group)]
        return [constraint for constraint in parts if constraint is not None and constraint.uses_pack and not constraint.topology_name]

    @lazy
    def domain_uses(self) -> list[Mention]:
        """Every domain that a constraint names."""
        return [use for constraint in self.constraints for use in constraint.uses]

    @lazy
    def nested(self) -> list[NestedConstraint]:
        """Pairs of a constraint and one inside it: set and groups, set and cliques, a group and its cliques."""
        pairs: list[tuple[Constraint | None, Constraint | None]] = []
        if self.constraint:
            pairs += [(self.constraint, inner) for inner in self.constraints[1:]]
        pairs += [(group.constraint, clique.constraint) for group in self.groups for clique in group.cliques]
        return [NestedConstraint(outer, inner) for outer, inner in pairs if outer and inner]


def _names_topology(group: ScalingGroupTemplate | None) -> bool:
    return group is not None and group.constraint is not None and group.constraint.topology_name != ""
