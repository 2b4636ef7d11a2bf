"""Models topology objects: levels from the broadest to the narrowest, each with a domain's name and its node label.

Both kinds are one class here: `ClusterTopology` of the design (GREP-244) and `ClusterTopologyBinding` of the upstream operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
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
    """One level: `domain` is the word that workloads use (`rack`), `key` the node label whose value identifies a domain."""

    domain: str
    key: str
    path: str


@record(slots=False)
class Topology:
    """One topology object as the user wrote it."""

    manifest: Manifest

    name = declared(str, "metadata.name")
    bindings = declared(list[Manifest], "spec.schedulerTopologyBindings", "The schedulers whose own topology object is managed elsewhere.")

    @lazy
    def kind(self) -> str:
        return self.manifest.get("kind") or CLUSTER_TOPOLOGY

    @lazy
    def levels(self) -> list[Level]:
        """The levels from the broadest to the narrowest, as written."""
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
        """Levels whose domain is broader than that of a level above, by the design's order; a domain counts where it is first named."""
        first = {level.domain: level for level in reversed(self.levels) if level.domain in DOMAINS}
        known = [level for level in self.levels if first.get(level.domain) is level]
        ranks = [DOMAINS.index(level.domain) for level in known]
        return [level for number, level in enumerate(known) if ranks[number] < max(ranks[:number], default=0)]

    @lazy
    def kai_name(self) -> str:
        """The name of its KAI Topology: that of its binding to KAI if there is one, else its own name."""
        names = (binding.get("topologyReference") for binding in self.bindings if binding.get("schedulerName") == KAI)
        return next((name for name in names if name), self.name)

    def lacks(self, domains: list[str]) -> list[str]:
        """Returns the domains that the topology does not have, each once."""
        return list(dict.fromkeys(domain for domain in domains if domain not in self.domains))

    def key_of(self, domain: str | None) -> str | None:
        """Returns the node label key of a domain; none for a domain that the topology does not have."""
        return next((level.key for level in self.levels if level.domain == domain), None) if domain else None


def find_topology(topologies: Sequence[Known], name: str, first: str) -> Known | None:
    """Returns the topology of that name, preferably of the kind `first`, else of the other kind."""
    named = [topology for topology in topologies if topology.name == name]
    return next((topology for topology in named if topology.kind == first), named[0] if named else None)
