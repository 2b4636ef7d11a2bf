"""Topologies of the cluster: levels from the broadest to the narrowest, each a domain's name and the node label that tells it.

Both kinds are one class here: `ClusterTopology` of the design (GREP-244) and `ClusterTopologyBinding` of the shipped operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.lazy import lazy
from grove_compiler.model.snapshot import Snapshot, is_terminating

API_VERSION = "grove.io/v1alpha1"
CLUSTER_TOPOLOGY = "ClusterTopology"
BINDING = "ClusterTopologyBinding"
DEFAULT_TOPOLOGY = "grove-topology"


@dataclass(slots=True, eq=False)
class Level:
    """One level: `domain` is the word that workloads use (`rack`), `key` the node label whose values tell one domain from another."""

    domain: str
    key: str
    path: str


@dataclass(eq=False)
class Topology:
    """One topology object. `is_default` marks the one that is made from the operator's configuration."""

    manifest: Manifest
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    is_default: bool = False

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
    """`grove-topology`, from the levels of the operator's configuration (GREP-244, "Operator Startup behavior")."""
    manifest = {"apiVersion": API_VERSION, "kind": CLUSTER_TOPOLOGY, "metadata": {"name": DEFAULT_TOPOLOGY}, "spec": {"levels": levels}}
    return Topology(manifest, snapshot, is_default=True)


def find_topology(topologies: list[Topology], name: str, first: str) -> Topology | None:
    """The topology of that name, of the kind `first` if there is one, else of the other kind."""
    named = [topology for topology in topologies if topology.name == name]
    return next((topology for topology in named if topology.kind == first), named[0] if named else None)
