"""Collects the topologies of a cluster: those of the input, those only in the snapshot, and the configuration's default one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grove_compiler.decoder import TOPOLOGY_KINDS, Decoded, Decoder, InputRules
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.topology import ExpandedTopology, default_topology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.topology import API_VERSION, CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY
from grove_compiler.source.document import Document

Known = list[tuple[ExpandedTopology, Decoded | None]]
"""Topologies, each with the object it was decoded from; none for the default one, which the configuration defines."""


def decode_existing(program: InputRules, scope: Mapping[str, Any], snapshot: Snapshot) -> list[Decoded]:
    """Returns the topologies of the cluster with their findings, including invalid ones.

    A topology that is left out would count as missing, and sets would be placed without it instead of being held. So one of an unknown
    version is decoded as the known version, which yields its name and mostly its levels, and reported as an error.
    """
    entries = []
    for manifest in existing_manifests(snapshot):
        [entry] = Decoder(program, scope).take([Document({**manifest, "apiVersion": API_VERSION})])
        if manifest.get("apiVersion") != API_VERSION:
            message = f"{manifest.get('apiVersion')} is not a version of a {entry.kind} that this program knows"
            entry.findings.append(Diagnostic("input/unknown-version", "error", message, "apiVersion"))
        entries.append(entry)
    return entries


def existing_manifests(snapshot: Snapshot) -> list[Manifest]:
    """Returns the topology manifests of the cluster."""
    return [manifest for kind in TOPOLOGY_KINDS for manifest in snapshot.of_kind(API_VERSION, kind)]


def known_topologies(declared: list[Decoded], existing: list[Decoded], config: Configuration, snapshot: Snapshot) -> Known:
    """Returns the default topology, those of the input, then those that only the cluster has, with their `peers` set.

    One of the input that the default topology replaces is in the list, to be validated, but is no peer.
    """
    topologies: Known = [(ExpandedTopology(entry.manifest, snapshot, is_declared=True), entry) for entry in declared]
    known = {(topology.kind, topology.name) for topology, _ in topologies}
    if config.has_default_topology:
        known.add((CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY))
    others = ((ExpandedTopology(entry.manifest, snapshot), entry) for entry in existing)
    topologies += [(topology, entry) for topology, entry in others if (topology.kind, topology.name) not in known]
    if config.has_default_topology:
        topologies.insert(0, (default_topology(config.topology_levels, snapshot), None))
    _set_peers([topology for topology, _ in topologies])
    return topologies


def _set_peers(topologies: list[ExpandedTopology]) -> None:
    """Sets the peers of each topology; of two with the same kind and name the first counts, which is the default one."""
    first: dict[tuple[str, str], ExpandedTopology] = {}
    for topology in topologies:
        first.setdefault((topology.kind, topology.name), topology)
    peers = list(first.values())
    for topology in topologies:
        topology.peers = peers
