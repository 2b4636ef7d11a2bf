"""Topologies of the cluster: levels from the broadest to the narrowest, each a domain's name and the node label that tells it.

Both kinds are one class here: `ClusterTopology` of the design (GREP-244) and `ClusterTopologyBinding` of the shipped operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.inputs.snapshot import Snapshot, controller_of, is_terminating
from grove_compiler.model.lazy import lazy

if TYPE_CHECKING:
    from grove_compiler.model.spec.declared import PodCliqueSet

API_VERSION = "grove.io/v1alpha1"
CLUSTER_TOPOLOGY = "ClusterTopology"
BINDING = "ClusterTopologyBinding"
DEFAULT_TOPOLOGY = "grove-topology"
DOMAINS = ["region", "zone", "datacenter", "block", "rack", "host", "numa"]
"""The design's domains by network distance, the longest first (GREP-244, Supported Topology domains)."""

KAI = "kai-scheduler"
KAI_API_VERSION = "kai.scheduler/v1alpha1"
MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = "grove-operator"


@dataclass(slots=True, eq=False)
class Level:
    """One level: `domain` is the word that workloads use (`rack`), `key` the node label whose values tell one domain from another."""

    domain: str
    key: str
    path: str


@dataclass(eq=False)
class Topology:
    """One topology object.

    `is_default` marks the one that is made from the operator's configuration, `is_declared` those that stand in the input.
    `peers` are all topologies that count in the cluster, itself among them; `find_sets` gives all sets that may refer to them.
    """

    manifest: Manifest
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    is_default: bool = False
    is_declared: bool = False
    peers: list[Topology] = field(default_factory=list, repr=False)
    find_sets: Callable[[], list[PodCliqueSet]] = field(default=list, repr=False)

    @lazy
    def sets(self) -> list[PodCliqueSet]:
        """All sets of the cluster and of the input: asked for only where it matters who uses the topology."""
        return self.find_sets()

    @lazy
    def kind(self) -> str:
        return self.manifest.get("kind") or CLUSTER_TOPOLOGY

    @lazy
    def name(self) -> str:
        return (self.manifest.get("metadata") or {}).get("name") or ""

    @lazy
    def ref(self) -> ObjectRef:
        uid = (self.manifest.get("metadata") or {}).get("uid") or ""
        return self.snapshot.with_uid(ObjectRef(API_VERSION, self.kind, "", self.name, uid))

    @lazy
    def levels(self) -> list[Level]:
        """From the broadest to the narrowest, as written."""
        entries = (self.manifest.get("spec") or {}).get("levels") or []
        return [Level(entry.get("domain") or "", entry.get("key") or "", f"spec.levels[{index}]") for index, entry in enumerate(entries)]

    @lazy
    def domains(self) -> list[str]:
        return [level.domain for level in self.levels]

    @lazy
    def keys(self) -> list[str]:
        return [level.key for level in self.levels]

    @lazy
    def bindings(self) -> list[Manifest]:
        """The schedulers whose own topology object somebody else makes (`spec.schedulerTopologyBindings`)."""
        return (self.manifest.get("spec") or {}).get("schedulerTopologyBindings") or []

    @lazy
    def bound_schedulers(self) -> list[str]:
        return [binding.get("schedulerName") or "" for binding in self.bindings]

    @lazy
    def exists(self) -> bool:
        """Whether the cluster has it already."""
        return self.snapshot.get(API_VERSION, self.kind, "", self.name) is not None

    @lazy
    def is_terminating(self) -> bool:
        """Whether somebody asked for its deletion."""
        found = self.snapshot.get(API_VERSION, self.kind, "", self.name)
        return found is not None and is_terminating(found)

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
    def misplaced(self) -> list[Level]:
        """Levels of the design's domains that stand below one which is narrower by its name; a domain counts where it stands first."""
        first = {level.domain: level for level in reversed(self.levels) if level.domain in DOMAINS}
        known = [level for level in self.levels if first.get(level.domain) is level]
        ranks = [DOMAINS.index(level.domain) for level in known]
        return [level for number, level in enumerate(known) if ranks[number] < max(ranks[:number], default=0)]

    @lazy
    def kai_name(self) -> str:
        """KAI's name for it: that of the object which somebody else makes for KAI, else its own."""
        bound = (one.get("topologyReference") for one in self.bindings if one.get("schedulerName") == KAI)
        return next((name for name in bound if name), self.name)

    @lazy
    def twin(self) -> Topology | None:
        """The topology of the other kind that needs a KAI Topology of the same name."""
        if KAI in self.bound_schedulers:
            return None
        return next((peer for peer in self.peers if _are_twins(peer, self)), None)

    @lazy
    def is_served_by_twin(self) -> bool:
        """Whether the KAI Topology of a ClusterTopology serves this binding of the same name, too."""
        return self.kind == BINDING and self.twin is not None

    @lazy
    def foreign_kai_topology(self) -> Manifest | None:
        """KAI's Topology of this name, if it exists and somebody else made it (shipped §8.1)."""
        found = self.snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", self.name))
        owner = controller_of(found) if found else None
        is_ours = owner is not None and owner.get("kind") in (CLUSTER_TOPOLOGY, BINDING) and owner.get("name") == self.name
        return None if is_ours or KAI in self.bound_schedulers else found

    def lacks(self, domains: list[str]) -> list[str]:
        """Those of the domains that it does not have, each once."""
        return list(dict.fromkeys(domain for domain in domains if domain not in self.domains))

    def key_of(self, domain: str | None) -> str | None:
        """The node label of a domain; none for a domain that the topology does not have."""
        return next((level.key for level in self.levels if level.domain == domain), None) if domain else None

    def rank(self, domain: str | None) -> int | None:
        """How narrow a domain is: 0 is the broadest; none for a domain that the topology does not have."""
        return self.domains.index(domain) if domain in self.domains else None


def default_topology(levels: list[Manifest], snapshot: Snapshot) -> Topology:
    """`grove-topology`, from the levels of the operator's configuration (GREP-244, "Operator Startup behavior").

    They are put in the order of their domains, as the operator of that design did (shipped §8.2).
    """
    ordered = sorted(levels, key=lambda level: DOMAINS.index(level["domain"]) if level.get("domain") in DOMAINS else len(DOMAINS))
    manifest = {"apiVersion": API_VERSION, "kind": CLUSTER_TOPOLOGY, "metadata": {"name": DEFAULT_TOPOLOGY}, "spec": {"levels": ordered}}
    return Topology(manifest, snapshot, is_default=True)


def find_topology(topologies: list[Topology], name: str, first: str) -> Topology | None:
    """The topology of that name, of the kind `first` if there is one, else of the other kind."""
    named = [topology for topology in topologies if topology.name == name]
    return next((topology for topology in named if topology.kind == first), named[0] if named else None)


def _are_twins(one: Topology, other: Topology) -> bool:
    return one.name == other.name and one.kind != other.kind and KAI not in one.bound_schedulers
