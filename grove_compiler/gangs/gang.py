"""Reads PodGangs: their podgroups, and the levels at which a topology constraint may stand (PodGang's API, shipped semantics §1.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from grove_compiler.gangs.clique import CompiledClique, Key
from grove_compiler.graph.node import Manifest
from grove_compiler.labels import PART_OF
from grove_compiler.record import record
from kube_objects.manifest import labels_of, maps, namespaced_name, section

GANG_KIND = "PodGang"
LevelName = Literal["gang", "group", "podgroup"]
"""Where a constraint stands: `spec`, `spec.topologyConstraintGroupConfigs[]`, or `spec.podgroups[]` of the PodGang."""
LEVELS: tuple[LevelName, ...] = ("gang", "group", "podgroup")
"""From outside to inside."""
TOPOLOGY_NAMES = ("grove.io/topology-name", "kai.scheduler/topology")


class LevelConstraint(NamedTuple):
    """Holds the topology constraint of a gang, of a group of podgroups, or of a podgroup, and the podgroups that it applies to.

    `required` and `preferred` are the node labels whose value all pods must or should share; empty for none.
    """

    level: LevelName
    name: str
    podgroups: list[str]
    required: str
    preferred: str


@record
class CompiledGang:
    """Holds the facts of one PodGang.

    `minimums` are the pods that each podgroup needs, by its name, which is its PodClique's; `levels` begin with the gang's own, then
    come those of the groups, then those of the podgroups; `topologies` are the names under which its annotations look for a topology.
    `cliques` are those of its podgroups that are there.
    """

    namespace: str
    name: str
    set_name: str
    minimums: dict[str, int]
    levels: list[LevelConstraint]
    topologies: list[str]
    cliques: list[CompiledClique] = field(default_factory=list)

    @property
    def replica(self) -> int:
        """The index of the set's replica; 0 where no clique has the label."""
        return max(self.cliques[0].replica, 0) if self.cliques else 0

    @property
    def base(self) -> str:
        """The name of the base gang, which must start first; empty unless the gang is scaled."""
        return next((clique.base_gang for clique in self.cliques if clique.base_gang), "")

    @property
    def scaled(self) -> bool:
        """Reports whether the gang is a replica of a scaling group beyond `minAvailable`, whose replicas are in the base gang."""
        return bool(self.base)

    @classmethod
    def of_one(cls, clique: CompiledClique) -> CompiledGang:
        """Returns a gang without a name for a clique that is scheduled by itself."""
        return cls(clique.namespace, "", clique.set_name, {clique.name: clique.minimum}, [], [], [clique])


def read_gangs(objects: Iterable[Manifest], cliques: Mapping[Key, CompiledClique]) -> list[CompiledGang]:
    """Reads every PodGang of these objects, in their order, each with those of its PodCliques that are in `cliques`."""
    gangs = [read_gang(manifest) for manifest in objects if manifest.get("kind") == GANG_KIND]
    for gang in gangs:
        keys = [(gang.namespace, name) for name in gang.minimums]
        gang.cliques = [cliques[key] for key in keys if key in cliques]
    return gangs


def read_gang(manifest: Manifest) -> CompiledGang:
    """Reads a PodGang's manifest, without its cliques. A podgroup without a name does not count."""
    namespace, name = namespaced_name(manifest)
    spec, annotations = section(manifest, "spec"), section(manifest, "metadata", "annotations")
    podgroups = [group for group in maps(spec.get("podgroups")) if group.get("name")]
    minimums = {str(group["name"]): group.get("minReplicas") or 0 for group in podgroups}
    levels = [_level("gang", name, list(minimums), spec)]
    groups = maps(spec.get("topologyConstraintGroupConfigs"))
    levels += [_level("group", str(group.get("name", "")), list(group.get("podGroupNames") or []), group) for group in groups]
    levels += [_level("podgroup", str(group["name"]), [str(group["name"])], group) for group in podgroups]
    topologies = [annotations[key] for key in TOPOLOGY_NAMES if key in annotations]
    return CompiledGang(namespace, name, labels_of(manifest).get(PART_OF, ""), minimums, levels, topologies)


def _level(level: LevelName, name: str, podgroups: list[str], holder: Manifest) -> LevelConstraint:
    pack = section(holder, "topologyConstraint", "packConstraint")
    return LevelConstraint(level, name, podgroups, str(pack.get("required") or ""), str(pack.get("preferred") or ""))
