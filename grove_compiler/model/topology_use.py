"""Which sets of a cluster use a topology: what keeps its levels from changing and the topology from being deleted (GREP-244)."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model.declared import PodCliqueSet
from grove_compiler.model.snapshot import Snapshot
from grove_compiler.model.topology import Topology


@dataclass(slots=True, eq=False)
class TopologyUse:
    """A set that refers to a topology, and how many of its pods are placed by it."""

    set_name: str
    scheduled: int


def topology_uses(topology: Topology) -> list[TopologyUse]:
    """Every set that refers to the topology, by name. A set with constraints and no name refers to the default one."""
    sets = [PodCliqueSet(manifest) for manifest in topology.snapshot.of_kind("PodCliqueSet")]
    users = [one for one in sets if one.placement.find([topology]) is topology]
    uses = [TopologyUse(f"{one.namespace}/{one.name}", scheduled_pods(one, topology.snapshot)) for one in users]
    return sorted(uses, key=lambda use: use.set_name)


def scheduled_pods(one: PodCliqueSet, snapshot: Snapshot) -> int:
    """`status.scheduledReplicas` of all PodCliques of a set, those of its scaling groups included."""
    total = 0
    for clique in snapshot.of_kind("PodClique"):
        metadata = clique.get("metadata") or {}
        if metadata.get("namespace") == one.namespace and (metadata.get("labels") or {}).get("app.kubernetes.io/part-of") == one.name:
            total += (clique.get("status") or {}).get("scheduledReplicas") or 0
    return total
