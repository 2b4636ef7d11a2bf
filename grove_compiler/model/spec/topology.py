"""What topology objects say: levels from the broadest to the narrowest, each a domain's name and the node label that tells it.

Both kinds are one class here: `ClusterTopology` of the design (GREP-244) and `ClusterTopologyBinding` of the shipped operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.declared import declared
from grove_compiler.record import record

API_VERSION = "grove.io/v1alpha1"
CLUSTER_TOPOLOGY = "ClusterTopology"
BINDING = "ClusterTopologyBinding"
DEFAULT_TOPOLOGY = "grove-topology"
DOMAINS = ["region", "zone", "datacenter", "block", "rack", "host", "numa"]
"""The design's domains by network distance, the longest first (GREP-244, Supported Topology domains)."""

KAI = "kai-scheduler"

Known = TypeVar("Known", bound="Topology")


@record
class Level:
    """One level: `domain` is the word that workloads use (`rack`), `key` the node label whose values tell one domain from another."""

    domain: str
    key: str
    path: str


@record(slots=False)
class Topology:
    """One topology object as it is written."""

    manifest: Manifest

    name = declared(str, "metadata.name")
    bindings = declared(list[Manifest], "spec.schedulerTopologyBindings", "The schedulers whose own topology object somebody else makes.")

    @lazy
    def kind(self) -> str:
        return self.manifest.get("kind") or CLUSTER_TOPOLOGY

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
    def bound_schedulers(self) -> list[str]:
        return [binding.get("schedulerName") or "" for binding in self.bindings]

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

    def lacks(self, domains: list[str]) -> list[str]:
        """Returns those of the domains that it does not have, each once."""
        return list(dict.fromkeys(domain for domain in domains if domain not in self.domains))

    def key_of(self, domain: str | None) -> str | None:
        """Returns the node label of a domain; none for a domain that the topology does not have."""
        return next((level.key for level in self.levels if level.domain == domain), None) if domain else None

    def rank(self, domain: str | None) -> int | None:
        """Returns how narrow a domain is: 0 is the broadest; none for a domain that the topology does not have."""
        return self.domains.index(domain) if domain in self.domains else None


def find_topology(topologies: Sequence[Known], name: str, first: str) -> Known | None:
    """Returns the topology of that name, of the kind `first` if there is one, else of the other kind."""
    named = [topology for topology in topologies if topology.name == name]
    return next((topology for topology in named if topology.kind == first), named[0] if named else None)
