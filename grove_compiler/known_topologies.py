"""The topologies of a cluster: those of the input, those that only the snapshot knows, and the default one of the configuration."""

from __future__ import annotations

from grove_compiler.intake import TOPOLOGY_KINDS, Admitted, Intake
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.inputs.topology import CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, Topology, default_topology
from grove_compiler.source.document import Document


def known_topologies(intake: Intake, config: Configuration, snapshot: Snapshot) -> list[tuple[Topology, Admitted | None]]:
    """Each with where it stands in the input; the default one comes first.

    They know each other as `peers`. One of the input that the default replaces is in the list to be judged, and no peer.
    """
    found: list[tuple[Topology, Admitted | None]] = [
        (Topology(entry.manifest, snapshot, is_declared=True), entry) for entry in intake.of_kind(*TOPOLOGY_KINDS)
    ]
    known = {(topology.kind, topology.name) for topology, _ in found}
    if config.has_default_topology:
        known.add((CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY))
    live = Intake(intake.program, intake.scope)  # what it finds is not the user's to mend; it leaves out what nobody could read
    live.take([Document(manifest) for kind in TOPOLOGY_KINDS for manifest in snapshot.of_kind(kind)])
    existing = (Topology(entry.manifest, snapshot) for entry in live.admitted)
    found += [(topology, None) for topology in existing if (topology.kind, topology.name) not in known]
    if config.has_default_topology:
        found.insert(0, (default_topology(config.topology_levels, snapshot), None))
    _introduce([topology for topology, _ in found])
    return found


def _introduce(topologies: list[Topology]) -> None:
    """Tells each of its peers; of two with one kind and name only the first counts, which is the default one."""
    first: dict[tuple[str, str], Topology] = {}
    for topology in topologies:
        first.setdefault((topology.kind, topology.name), topology)
    peers = list(first.values())
    for topology in topologies:
        topology.peers = peers
