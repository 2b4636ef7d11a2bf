"""Topologies, and sets that are placed by them, as short as a test can say them."""

from __future__ import annotations

from typing import Any

from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.topology import BINDING, CLUSTER_TOPOLOGY

Manifest = dict[str, Any]


def levels(*domains: str, prefix: str = "key") -> list[Manifest]:
    """A level for each domain, whose node label is `key/<domain>`."""
    return [{"domain": domain, "key": f"{prefix}/{domain}"} for domain in domains]


def manifest_of(name: str, *domains: str, kind: str = CLUSTER_TOPOLOGY, **parts: Any) -> Manifest:
    """A topology object; `metadata` and `spec` add to its own."""
    metadata = {"name": name, **parts.get("metadata", {})}
    spec = {"levels": levels(*domains), **parts.get("spec", {})}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def topology(name: str, *domains: str, snapshot: list[Manifest] | None = None, **parts: Any) -> ExpandedTopology:
    """A ClusterTopology, alone in its cluster."""
    found = ExpandedTopology(manifest_of(name, *domains, **parts), Snapshot(snapshot or []))
    found.peers = [found]
    return found


def binding(name: str, *domains: str, **parts: Any) -> ExpandedTopology:
    """A ClusterTopologyBinding; `external` names KAI's ExpandedTopology that somebody else makes."""
    external = parts.pop("external", None)
    bound = [{"schedulerName": "kai-scheduler", "topologyReference": external}] if external else None
    spec = {"schedulerTopologyBindings": bound} if bound else {}
    return topology(name, *domains, kind=BINDING, spec=spec, **parts)


def together(*topologies: ExpandedTopology) -> list[ExpandedTopology]:
    """The topologies of one cluster."""
    for one in topologies:
        one.peers = list(topologies)
    return list(topologies)
