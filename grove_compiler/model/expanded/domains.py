"""Models the ComputeDomains of a set, the claims through which pods join them (`docs/mnnvl.md`), and their state.

NVIDIA's driver reports the state. Nothing waits for it: nodes join a domain because of its pods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.gang import Gang, base_gang, gangs
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, Replica, ScalingGroupReplica
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED, DOMAIN, DRIVER, DRIVER_API_VERSION, domain_definition
from grove_compiler.model.inputs.snapshot import controller_of
from grove_compiler.model.lazy import memoized
from grove_compiler.model.spec.mnnvl import ANNOTATIONS, CLIQUE, GROUP, GROUP_CLAIM, REPLICA, SCALING_GROUP_REPLICA, Membership
from grove_compiler.model.spec.pod_spec import DOMAIN_CLAIM
from grove_compiler.model.spec.sharing import CLAIM_API_VERSION
from grove_compiler.record import record
from kube_objects.manifest import group_of, is_terminating

DOMAIN_UID = f"{group_of(DRIVER_API_VERSION)}/computeDomain"
"""The label by which NVIDIA's driver knows the claim templates that it has created: the UID of their ComputeDomain."""


@record
class ComputeDomain:
    """A ComputeDomain: pods of one replica of a set whose GPUs reach each other over NVLink.

    `claim_name` is what pods refer to: a ResourceClaim, a ResourceClaimTemplate, or the template that the driver makes. `cliques` are
    those whose pods are in it. `member` and `clique` are set as far as it belongs to one replica of a scaling group or to one PodClique.
    """

    name: str
    claim_name: str
    membership: Membership
    is_driver_shaped: bool
    owner: ObjectRef
    cliques: list[Clique] = field(default_factory=list, repr=False)
    member: ScalingGroupReplica | None = field(default=None, repr=False)
    clique: Clique | None = field(default=None, repr=False)


@record
class PodClaim:
    """An entry of a pod's `resourceClaims`: either `claim`, which pods share, or `template`, from which each pod gets its own.

    `is_new` tells whether the pod's template lacks a claim of that name. `pointers` are the JSON pointers, inside the pod's spec, of the
    containers that are to use the claim and do not name it yet.
    """

    name: str
    claim: str | None
    template: str | None
    is_new: bool
    pointers: list[str]


class DomainDecisions(Protocol):
    @staticmethod
    def domain_name(membership: Membership, owner: str) -> str:
        """Decides the name of a ComputeDomain; `owner` is the name of the replica, PodClique or scaling group's replica that it is for."""

    @staticmethod
    def domain_claim_name(membership: Membership, owner: str) -> str:
        """Decides the name of the ResourceClaim or ResourceClaimTemplate through which pods join a domain."""


@memoized
def domains(replica: Replica) -> list[ComputeDomain]:
    """Returns the domains of a replica that have members, each once, in the order of gangs and cliques."""
    by_name: dict[str, ComputeDomain] = {}
    for gang in gangs(replica) if replica.set.mnnvl.is_mentioned else ():
        for clique in gang.cliques:
            membership = clique.membership
            if membership is not None and clique.is_desired:
                name = replica.set.decisions.of(DomainDecisions).domain_name(membership, _owner_name(clique, membership))
                if name not in by_name:
                    by_name[name] = _domain(name, clique, membership, gang)
                by_name[name].cliques.append(clique)
    return list(by_name.values())


@memoized
def gangs_with_domains(replica: Replica) -> frozenset[str]:
    """Returns the names of a replica's gangs that own ComputeDomains."""
    return frozenset(domain.owner.name for domain in domains(replica) if domain.owner.kind == "PodGang")


@memoized
def pod_claim(clique: Clique) -> PodClaim | None:
    """Returns the claim entry through which the pods of a clique join their domain; none when they are in no domain."""
    membership = clique.membership
    if membership is None:
        return None
    name = GROUP_CLAIM if membership.mnnvl_mode == GROUP else DOMAIN_CLAIM
    is_shared = membership.mnnvl_mode == ANNOTATIONS and clique.set.mnnvl_shape == AS_PROPOSED
    target = _claim_name(clique, membership)
    declared = [claim.get("name") for claim in clique.template.pod_spec.get("resourceClaims") or []]
    pointers = [container.pointer for container in clique.template.gpu_containers if name not in container.claim_names]
    return PodClaim(name, target if is_shared else None, None if is_shared else target, name not in declared, pointers)


def _claim_name(clique: Clique, membership: Membership) -> str:
    return clique.set.decisions.of(DomainDecisions).domain_claim_name(membership, _owner_name(clique, membership))


def _owner_name(clique: Clique, membership: Membership) -> str:
    """Returns the name of the replica, scaling-group replica or PodClique that the domain is for."""
    if membership.scope == SCALING_GROUP_REPLICA and clique.member is not None:
        return clique.member.name
    return clique.replica.name if membership.scope == REPLICA else clique.name


def _domain(name: str, clique: Clique, membership: Membership, gang: Gang) -> ComputeDomain:
    own = clique if membership.scope == CLIQUE else None
    member = clique.member if membership.scope in (CLIQUE, SCALING_GROUP_REPLICA) else None
    holder = base_gang(clique.replica) if membership.scope == REPLICA else gang
    owner = holder.ref if membership.mnnvl_mode == ANNOTATIONS else clique.set.ref
    is_driver_shaped = membership.mnnvl_mode == GROUP or clique.set.mnnvl_shape == DRIVER
    return ComputeDomain(name, _claim_name(clique, membership), membership, is_driver_shaped, owner, [], member, own)


@dataclass(slots=True, eq=False)
class DomainState:
    """The reported state of a ComputeDomain: how many nodes have joined it and are ready; `message` tells why it is not ready.

    `foreign_template` is the ResourceClaimTemplate of somebody else that its pods refer to; empty for none.
    """

    name: str
    replica: int
    is_ready: bool
    nodes: int
    ready_nodes: int
    message: str
    foreign_template: str


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
    return [_state(domain, replica, live.get(domain.name)) for replica in pcs.replicas for domain in domains(replica)]


def is_leaving_empty(domain: ComputeDomain) -> bool:
    """Reports whether the domain is terminating and has no pods, so that it may go and be recreated."""
    pcs = domain.cliques[0].set
    live = pcs.snapshot.get(DRIVER_API_VERSION, DOMAIN, pcs.namespace, domain.name)
    return live is not None and is_terminating(live) and not any(live_pods(clique) for clique in domain.cliques)


def _state(domain: ComputeDomain, replica: Replica, live: Manifest | None) -> DomainState:
    status = status_of(live)
    nodes, foreign = status.get("nodes") or [], ""
    # Nodes have a status of their own since driver 25.8; without it, the domain's status counts.
    ready = [node for node in nodes if node.get("status", status.get("status")) == "Ready"]
    if live is None:
        message = "does not exist yet"
    elif is_terminating(live):
        message = "is being deleted"
    elif status.get("status") == "Ready":
        message = ""
    elif foreign := _foreign_template(domain, replica.set, live):
        message = f"the ResourceClaimTemplate {foreign} of its pods is not the driver's"
    else:
        message = f"has {len(ready)} of {len(nodes)} nodes ready" if nodes else "has no nodes yet"
    return DomainState(domain.name, replica.index, not message, len(nodes), len(ready), message, foreign)


def _foreign_template(domain: ComputeDomain, pcs: ExpandedSet, live: Manifest) -> str:
    """Returns the name of the template that somebody else has created where the driver would create that of a domain; empty for none."""
    template = pcs.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", pcs.namespace, domain.claim_name)
    if (
        template is None
        or not domain.is_driver_shaped
        or is_terminating(template)
        or (controller_of(template) or {}).get("uid") == pcs.ref.uid
    ):
        return ""
    labels = template["metadata"].get("labels") or {}
    return "" if labels.get(DOMAIN_UID) == live["metadata"].get("uid") else domain.claim_name
