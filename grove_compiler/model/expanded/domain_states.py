"""How the ComputeDomains of a set stand, as NVIDIA's driver reports. Nothing waits for that: nodes join a domain because of its pods."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.domains import ComputeDomain, domains
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.mnnvl_shape import DOMAIN, DRIVER_API_VERSION, domain_definition
from grove_compiler.model.inputs.snapshot import PART_OF, group_of, is_terminating
from grove_compiler.model.lazy import remembered


@dataclass(slots=True, eq=False)
class DomainState:
    """What is reported of one ComputeDomain: how many nodes have joined it and can use it, and in `message` why it is not ready."""

    name: str
    replica: int
    is_ready: bool
    nodes: int
    ready_nodes: int
    message: str


def domains_are_served(set: ExpandedSet) -> bool:
    """Tells whether the cluster can have ComputeDomains; true as long as nothing says that it cannot."""
    definition = domain_definition(set.snapshot)
    return definition is None or any(version.get("served") for version in definition["spec"].get("versions") or [])


@remembered
def domain_states(set: ExpandedSet) -> list[DomainState]:
    """Returns how each domain of the set stands, by replica.

    They are read by one label and not one by one: whoever asks is the set as a whole, which may have thousands of replicas.
    """
    labelled = set.snapshot.labelled(group_of(DRIVER_API_VERSION), DOMAIN, PART_OF, set.name, set.namespace)
    live = {(one.get("metadata") or {}).get("name"): one for one in labelled}
    wanted = ((replica.index, domain.name) for replica in set.replicas for domain in domains(replica))
    return [_state(name, replica, live.get(name)) for replica, name in wanted]


def is_leaving_empty(domain: ComputeDomain) -> bool:
    """Tells whether somebody has deleted the domain and no pod is in it: then it may go, to be made again."""
    set = domain.cliques[0].set
    live = set.snapshot.get(DRIVER_API_VERSION, DOMAIN, set.namespace, domain.name)
    return live is not None and is_terminating(live) and not any(live_pods(clique) for clique in domain.cliques)


def _state(name: str, replica: int, live: Manifest | None) -> DomainState:
    status = status_of(live)
    nodes = status.get("nodes") or []
    # Nodes have a status of their own since the driver's 25.8; one without it counts by what the domain says.
    ready = [node for node in nodes if node.get("status", status.get("status")) == "Ready"]
    if live is None:
        message = "is not there yet"
    elif is_terminating(live):
        message = "is being deleted"
    elif not nodes and status.get("status") != "Ready":
        message = "has no nodes yet"
    else:
        message = "" if status.get("status") == "Ready" else f"has {len(ready)} of {len(nodes)} nodes ready"
    return DomainState(name, replica, not message, len(nodes), len(ready), message)
