"""Topologies as they are in a cluster: which others there are, which sets use them, what KAI knows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot, controller_of, is_terminating
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.topology import API_VERSION, BINDING, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, DOMAINS, KAI, Topology
from grove_compiler.record import record

KAI_API_VERSION = "kai.scheduler/v1alpha1"
MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = "grove-operator"


def topology_is_wanted(topology: ExpandedTopology, config: Configuration) -> bool:
    """Decides whether a topology should be there, with its finalizer."""
    raise NotImplementedError


@record
class TopologyUse:
    """A set that refers to a topology, and how many of its pods are placed by it."""

    set_name: str
    scheduled: int


@record(slots=False)
class ExpandedTopology(Topology):
    """A topology in its cluster: what rules call `topology`.

    `is_default` marks the one that is made from the operator's configuration, `is_declared` those that stand in the input.
    `peers` are all topologies that count in the cluster, itself among them; `find_sets` gives all sets that may refer to them.
    """

    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    is_default: bool = False
    is_declared: bool = False
    peers: list[ExpandedTopology] = field(default_factory=list, repr=False)
    find_sets: Callable[[], list[PodCliqueSet]] = field(default=list, repr=False)

    @lazy
    def ref(self) -> ObjectRef:
        uid = (self.manifest.get("metadata") or {}).get("uid") or ""
        return self.snapshot.with_uid(ObjectRef(API_VERSION, self.kind, "", self.name, uid))

    @lazy
    def exists(self) -> bool:
        """Whether the cluster has it already."""
        return self._live is not None

    @lazy
    def is_terminating(self) -> bool:
        """Whether somebody asked for its deletion."""
        return self._live is not None and is_terminating(self._live)

    @lazy
    def _live(self) -> Manifest | None:
        return self.snapshot.get(API_VERSION, self.kind, "", self.name)

    @lazy
    def is_replaced(self) -> bool:
        """Whether the default topology of the configuration takes its place: it has that one's name."""
        return bool(self.peers) and not any(peer is self for peer in self.peers)

    @lazy
    def is_retired(self) -> bool:
        """Whether it is a default topology of the operator's that the configuration does not describe any more."""
        labels = (self.manifest.get("metadata") or {}).get("labels") or {}
        is_ours = self.kind == CLUSTER_TOPOLOGY and self.name == DEFAULT_TOPOLOGY and labels.get(MANAGED_BY) == OPERATOR
        return is_ours and not self.is_default and not self.is_declared

    @lazy
    def uses(self) -> list[TopologyUse]:
        """Every set of the cluster or of the input that refers to it, by name (GREP-244).

        They keep its levels from changing, and it from being deleted. A set with constraints and no name refers to the default one.
        """
        peers = self.peers or [self]
        users = [one for one in self.find_sets() if one.placement.find(peers) is self]
        scheduled = {f"{one.namespace}/{one.name}": self.snapshot.scheduled_pods(one.namespace, one.name) for one in users}
        return [TopologyUse(name, scheduled[name]) for name in sorted(scheduled)]

    @lazy
    def counterpart(self) -> ExpandedTopology | None:
        """The topology of the other kind that needs a KAI Topology of the same name."""
        return None if KAI in self.bound_schedulers else next((peer for peer in self.peers if self._is_counterpart(peer)), None)

    def _is_counterpart(self, peer: ExpandedTopology) -> bool:
        return peer.name == self.name and peer.kind != self.kind and KAI not in peer.bound_schedulers

    @lazy
    def is_served_by_counterpart(self) -> bool:
        """Whether the KAI Topology of a ClusterTopology serves this binding of the same name, too."""
        return self.kind == BINDING and self.counterpart is not None

    @lazy
    def foreign_kai_topology(self) -> Manifest | None:
        """KAI's Topology of this name, if it exists and somebody else made it (shipped §8.1)."""
        manifest = self.snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", self.name))
        owner = controller_of(manifest) if manifest else None
        is_ours = owner is not None and owner.get("kind") in (CLUSTER_TOPOLOGY, BINDING) and owner.get("name") == self.name
        return None if is_ours or KAI in self.bound_schedulers else manifest


def default_topology(levels: list[Manifest], snapshot: Snapshot) -> ExpandedTopology:
    """Returns `grove-topology`, from the levels of the operator's configuration (GREP-244, "Operator Startup behavior").

    They are put in the order of their domains, as the operator of that design did (shipped §8.2).
    """
    ordered = sorted(levels, key=lambda level: DOMAINS.index(level["domain"]) if level.get("domain") in DOMAINS else len(DOMAINS))
    manifest = {"apiVersion": API_VERSION, "kind": CLUSTER_TOPOLOGY, "metadata": {"name": DEFAULT_TOPOLOGY}, "spec": {"levels": ordered}}
    return ExpandedTopology(manifest, snapshot, is_default=True)
