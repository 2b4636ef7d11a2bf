"""Models topologies in a cluster: their peers, the sets that use them, and the schedulers' own topology objects (shipped §8.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import condition_of
from grove_compiler.labels import MANAGED_BY, OPERATOR
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot, controller_of
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.topology import API_VERSION, BINDING, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, DOMAINS, KAI, Topology
from grove_compiler.record import record
from kube_objects.manifest import is_terminating, managers_of_field

KAI_API_VERSION = "kai.scheduler/v1alpha1"


class TopologyDecisions(Protocol):
    @staticmethod
    def topology_is_desired(topology: ExpandedTopology, config: Configuration) -> bool:
        """Decides whether a topology should exist, with its finalizer."""


@record
class TopologyUse:
    """A set that refers to a topology, and the number of its scheduled pods."""

    set_name: str
    scheduled: int


@record(slots=False)
class ExpandedTopology(Topology):
    """A topology in its cluster (`topology` in rules).

    `is_default` marks the one that is made from the operator's configuration, `is_declared` those in the input. `peers` are all topologies
    in force in the cluster, itself included; `find_sets` returns all sets that may refer to them.
    """

    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    is_default: bool = False
    is_declared: bool = False
    peers: list[ExpandedTopology] = field(default_factory=list, repr=False)
    find_sets: Callable[[], list[PodCliqueSet]] = field(default=list, repr=False)

    @lazy
    def ref(self) -> ObjectRef:
        # The manifest of the default one is the configuration's; what exists keeps its UID until it is gone, also while it is deleted.
        uids = ((manifest.get("metadata") or {}).get("uid") for manifest in (self.manifest, self._live or {}))
        return ObjectRef(API_VERSION, self.kind, "", self.name, next(filter(None, uids), ""))

    @lazy
    def exists(self) -> bool:
        """Whether it exists in the cluster."""
        return self._live is not None

    @lazy
    def is_terminating(self) -> bool:
        """Whether it is being deleted."""
        return self._live is not None and is_terminating(self._live)

    @lazy
    def _live(self) -> Manifest | None:
        return self.snapshot.get(API_VERSION, self.kind, "", self.name)

    @lazy
    def is_replaced(self) -> bool:
        """Whether the configuration's default topology, which has the same name, replaces it."""
        return bool(self.peers) and not any(peer is self for peer in self.peers)

    @lazy
    def is_retired(self) -> bool:
        """Whether it is the operator's default topology, and the configuration no longer defines one."""
        return is_made_from_configuration(self.manifest) and not self.is_default and not self.is_declared

    @lazy
    def uses(self) -> list[TopologyUse]:
        """Every set of the cluster or the input that refers to it, sorted by name (GREP-244).

        They block changes of its levels and its deletion. A set with constraints and no topology name refers to the default one.
        """
        peers = self.peers or [self]
        # Sets know a replaced one by its name alone, and what its author changes of it is what they are placed by.
        own = next((peer for peer in peers if (peer.kind, peer.name) == (self.kind, self.name)), self)
        users = [pcs for pcs in self.find_sets() if pcs.placement.find(peers) is own]
        scheduled = {f"{pcs.namespace}/{pcs.name}": self.snapshot.scheduled_pods(pcs.namespace, pcs.name) for pcs in users}
        return [TopologyUse(name, scheduled[name]) for name in sorted(scheduled)]

    @lazy
    def counterpart(self) -> ExpandedTopology | None:
        """The topology of the same name and the other kind, which needs the same KAI Topology."""
        return None if KAI in self.bound_schedulers else next((peer for peer in self.peers if self._is_counterpart(peer)), None)

    def _is_counterpart(self, peer: ExpandedTopology) -> bool:
        return peer.name == self.name and peer.kind != self.kind and KAI not in peer.bound_schedulers

    @lazy
    def is_served_by_counterpart(self) -> bool:
        """Whether the KAI Topology of the ClusterTopology of the same name also serves this binding."""
        return self.kind == BINDING and self.counterpart is not None

    @lazy
    def foreign_kai_topology(self) -> Manifest | None:
        """The KAI Topology of this name, if it exists and was made by others."""
        return None if self.has_kai_topology or KAI in self.bound_schedulers else self._kai_topology

    @lazy
    def has_kai_topology(self) -> bool:
        """Whether the KAI Topology of this name exists, and was made for a topology of ours of this name."""
        owner = controller_of(self._kai_topology) if self._kai_topology else None
        return owner is not None and owner.get("kind") in (CLUSTER_TOPOLOGY, BINDING) and owner.get("name") == self.name

    @lazy
    def _kai_topology(self) -> Manifest | None:
        return self.snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", self.name))


def is_made_from_configuration(manifest: Manifest) -> bool:
    """Reports whether an operator has made a live topology from its configuration: it bears our label, and its levels are ours.

    The label alone may be anybody's, and what it is on is not deleted for it (decisions §8).
    """
    metadata = manifest.get("metadata") or {}
    is_labelled = (metadata.get("labels") or {}).get(MANAGED_BY) == OPERATOR
    has_name = (manifest.get("kind"), metadata.get("name")) == (CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY)
    return has_name and is_labelled and OPERATOR in managers_of_field(manifest, "spec", "levels")


def default_topology(levels: list[Manifest], snapshot: Snapshot) -> ExpandedTopology:
    """Returns the topology `grove-topology` with the levels of the operator's configuration (GREP-244, "Operator Startup behavior").

    The levels are sorted by the order of their domains, as the operator of that design did.
    """
    ordered = sorted(levels, key=lambda level: DOMAINS.index(level["domain"]) if level.get("domain") in DOMAINS else len(DOMAINS))
    manifest = {"apiVersion": API_VERSION, "kind": CLUSTER_TOPOLOGY, "metadata": {"name": DEFAULT_TOPOLOGY}, "spec": {"levels": ordered}}
    return ExpandedTopology(manifest, snapshot, is_default=True)


@record
class SchedulerTopology:
    """A scheduler's topology object. `reference` is its name; `generation` is set for one that others make.

    `is_available` tells whether the scheduler is enabled here and supports topologies; `message` tells what is not in sync. `is_ours` tells
    whether the operator makes it for this topology, and so is about to write it where it is not in sync.
    """

    scheduler: str
    reference: str
    in_sync: bool
    is_available: bool
    generation: int | None
    message: str
    is_ours: bool = False


def scheduler_topologies(topology: ExpandedTopology, config: Configuration) -> list[SchedulerTopology]:
    """Returns the topology of each scheduler that supports topologies, and then of those that the topology names but that do not."""
    supported = [_of_kai(topology)] if config.makes_kai_topologies else []
    others = [binding for binding in topology.bindings if not (config.makes_kai_topologies and binding.get("schedulerName") == KAI)]
    return supported + [_unavailable(binding) for binding in others]


def old_drift(topology: ExpandedTopology) -> str:
    """Returns the live status of its condition `SchedulerTopologyDrift`; empty without one."""
    return condition_of(topology.manifest, "SchedulerTopologyDrift").get("status") or ""


def _of_kai(topology: ExpandedTopology) -> SchedulerTopology:
    name = topology.kai_name
    live = topology.snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", name))
    is_bound = KAI in topology.bound_schedulers
    generation = live["metadata"].get("generation") if live is not None and is_bound else None
    message = _difference(topology, name, live)
    is_ours = not (is_bound or topology.is_served_by_counterpart or topology.foreign_kai_topology)
    return SchedulerTopology(KAI, name, not message, True, generation, message, is_ours)


def _difference(topology: ExpandedTopology, name: str, live: Manifest | None) -> str:
    if live is None:
        return f'KAI Topology "{name}" not found'
    if topology.foreign_kai_topology is not None:
        return f'KAI Topology "{name}" is not made for this {topology.kind}'
    levels = [level.get("nodeLabel") for level in (live.get("spec") or {}).get("levels") or []]
    return "" if levels == topology.keys else f"KAI Topology levels differ from {topology.kind} levels"


def _unavailable(binding: Manifest) -> SchedulerTopology:
    scheduler, reference = binding.get("schedulerName") or "", binding.get("topologyReference") or ""
    message = f'scheduler backend "{scheduler}" is not available for topology management'
    return SchedulerTopology(scheduler, reference, False, False, None, message)
