"""Which sets of a cluster use a topology: what keeps its levels from changing and the topology from being deleted (GREP-244)."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.inputs.topology import Topology
from grove_compiler.model.spec.declared import PodCliqueSet


@dataclass(slots=True, eq=False)
class TopologyUse:
    """A set that refers to a topology, and how many of its pods are placed by it."""

    set_name: str
    scheduled: int


def topology_uses(topology: Topology) -> list[TopologyUse]:
    """Every set of the cluster or of the input that refers to the topology, by name.

    A set with constraints and no name refers to the default one.
    """
    peers = topology.peers or [topology]
    users = [one for one in topology.sets if one.placement.find(peers) is topology]
    scheduled = {f"{one.namespace}/{one.name}": scheduled_pods(one, topology.snapshot) for one in users}
    return [TopologyUse(name, scheduled[name]) for name in sorted(scheduled)]


def topology_is_wanted(topology: Topology, config: Configuration) -> bool:
    """Whether a topology should be there, with its finalizer.

    One that is being deleted stays while sets refer to it. A default one that the configuration no longer describes is not wanted,
    and where topology-aware scheduling is off nothing holds it (GREP-244, Operator Startup behavior).
    """
    if topology.is_replaced:
        return False
    if not topology.is_terminating:
        return not topology.is_retired
    return bool(topology_uses(topology)) and (config.topology_enabled or not topology.is_retired)


def scheduled_pods(one: PodCliqueSet, snapshot: Snapshot) -> int:
    """`status.scheduledReplicas` of all PodCliques of a set, those of its scaling groups included."""
    return snapshot.scheduled_pods(one.namespace, one.name)
