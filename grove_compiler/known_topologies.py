"""The topologies of a cluster: those of the input, those that only the snapshot knows, and the default one of the configuration."""

from __future__ import annotations

from grove_compiler.decoder import TOPOLOGY_KINDS, Decoded, Decoder
from grove_compiler.model.expanded.topology import ExpandedTopology, default_topology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.topology import API_VERSION, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY
from grove_compiler.source.document import Document


def known_topologies(decoder: Decoder, config: Configuration, snapshot: Snapshot) -> list[tuple[ExpandedTopology, Decoded | None]]:
    """Returns each with what it was decoded from; the default one, which the configuration describes, comes first and has nothing.

    They know each other as `peers`. One of the input that the default replaces is in the list to be judged, and no peer.
    """
    topologies: list[tuple[ExpandedTopology, Decoded | None]] = [
        (ExpandedTopology(entry.manifest, snapshot, is_declared=True), entry) for entry in decoder.of_kind(*TOPOLOGY_KINDS)
    ]
    known = {(topology.kind, topology.name) for topology, _ in topologies}
    if config.has_default_topology:
        known.add((CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY))
    live = Decoder(decoder.program, decoder.scope)
    live.take([Document(manifest) for kind in TOPOLOGY_KINDS for manifest in snapshot.of_kind(API_VERSION, kind)])
    existing = ((ExpandedTopology(entry.manifest, snapshot), entry) for entry in live.decoded if entry.is_defaulted)
    topologies += [(topology, entry) for topology, entry in existing if (topology.kind, topology.name) not in known]
    if config.has_default_topology:
        topologies.insert(0, (default_topology(config.topology_levels, snapshot), None))
    _introduce([topology for topology, _ in topologies])
    return topologies


def _introduce(topologies: list[ExpandedTopology]) -> None:
    """Tells each of its peers; of two with one kind and name only the first counts, which is the default one."""
    first: dict[tuple[str, str], ExpandedTopology] = {}
    for topology in topologies:
        first.setdefault((topology.kind, topology.name), topology)
    peers = list(first.values())
    for topology in topologies:
        topology.peers = peers
