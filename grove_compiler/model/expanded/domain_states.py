"""Reads the state of a set's ComputeDomains from NVIDIA's driver. Nothing waits for it: nodes join a domain because of its pods."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.domains import ComputeDomain, domains
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.mnnvl_shape import DOMAIN, DRIVER_API_VERSION, domain_definition
from grove_compiler.model.lazy import memoized
from kube_objects.manifest import group_of, is_terminating


@dataclass(slots=True, eq=False)
class DomainState:
    """The reported state of a ComputeDomain: how many nodes have joined it and are ready; `message` tells why it is not ready."""

    name: str
    replica: int
    is_ready: bool
    nodes: int
    ready_nodes: int
    message: str


def domains_are_served(pcs: ExpandedSet) -> bool:
    """Reports whether the cluster serves ComputeDomains; true when unknown."""
    definition = domain_definition(pcs.snapshot)
    return definition is None or any(version.get("served") for version in definition["spec"].get("versions") or [])


@memoized
def domain_states(pcs: ExpandedSet) -> list[DomainState]:
    """Returns the state of each domain of the set, by replica.

    Lists them by label instead of reading them one by one: a set may have thousands of replicas.
    """
    labelled = pcs.snapshot.labelled(group_of(DRIVER_API_VERSION), DOMAIN, PART_OF, pcs.name, pcs.namespace)
    live = {(manifest.get("metadata") or {}).get("name"): manifest for manifest in labelled}
    desired = ((replica.index, domain.name) for replica in pcs.replicas for domain in domains(replica))
    return [_state(name, replica, live.get(name)) for replica, name in desired]


def is_leaving_empty(domain: ComputeDomain) -> bool:
    """Reports whether the domain is terminating and has no pods, so that it may go and be recreated."""
    pcs = domain.cliques[0].set
    live = pcs.snapshot.get(DRIVER_API_VERSION, DOMAIN, pcs.namespace, domain.name)
    return live is not None and is_terminating(live) and not any(live_pods(clique) for clique in domain.cliques)


def _state(name: str, replica: int, live: Manifest | None) -> DomainState:
    status = status_of(live)
    nodes = status.get("nodes") or []
    # Nodes have a status of their own since driver 25.8; without it, the domain's status counts.
    ready = [node for node in nodes if node.get("status", status.get("status")) == "Ready"]
    if live is None:
        message = "does not exist yet"
    elif is_terminating(live):
        message = "is being deleted"
    elif not nodes and status.get("status") != "Ready":
        message = "has no nodes yet"
    else:
        message = "" if status.get("status") == "Ready" else f"has {len(ready)} of {len(nodes)} nodes ready"
    return DomainState(name, replica, not message, len(nodes), len(ready), message)
