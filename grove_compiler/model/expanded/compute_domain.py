"""ComputeDomains that exist for a set, and the claims through which pods join them (`docs/mnnvl.md`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model import names
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.mnnvl import ANNOTATIONS, CLIQUE, GROUP, REPLICA, SCALING_GROUP_REPLICA, Membership

if TYPE_CHECKING:
    from grove_compiler.model.expanded.derived import Clique, Replica, ScalingGroupReplica
    from grove_compiler.model.expanded.gang import Gang

AS_PROPOSED = "as-proposed"
DRIVER = "driver"
DRIVER_API_VERSION = "resource.nvidia.com/v1beta1"


@dataclass(slots=True, eq=False)
class ComputeDomain:
    """A ComputeDomain: pods of one replica of a set whose GPUs reach each other over NVLink.

    `claim_name` is what pods refer to: a ResourceClaim, a ResourceClaimTemplate, or the template that the driver makes. `member`
    and `clique` are set as far as the domain belongs to one replica of a scaling group or to one PodClique.
    """

    name: str
    claim_name: str
    membership: Membership
    is_driver_shaped: bool
    owner: ObjectRef
    member: ScalingGroupReplica | None = field(default=None, repr=False)
    clique: Clique | None = field(default=None, repr=False)

    @property
    def way(self) -> str:
        """`annotations`, `computeDomainConfig` or `mnnvl-group`."""
        return self.membership.way

    @property
    def device_class(self) -> str:
        return self.membership.device_class

    @property
    def group(self) -> str:
        """The shipped operator's group; empty for other ways."""
        return self.membership.group


@dataclass(slots=True, eq=False)
class PodClaim:
    """An entry of a pod's `resourceClaims`: `claim` is one that pods share, or `template` one that each pod gets its own from.

    `is_new` says whether the pod's template has no claim of that name yet. `pointers` are the JSON pointers, inside the pod's spec,
    of the containers that use the claim and do not say so themselves.
    """

    name: str
    claim: str | None
    template: str | None
    is_new: bool
    pointers: list[str]


def shape_of(chosen: str | None, snapshot: Snapshot) -> str:
    """The form of the designs' objects: as the caller chose, else as the cluster's driver wants it, if the snapshot shows that.

    A ComputeDomain that was read as v1beta1, or its CRD that serves v1beta1, is proof that the driver is there.
    """
    if chosen:
        return chosen
    domains = any(found.get("apiVersion") == DRIVER_API_VERSION for found in snapshot.of_kind(DRIVER_API_VERSION, "ComputeDomain"))
    return DRIVER if domains or _serves_driver_api(snapshot) else AS_PROPOSED


def _serves_driver_api(snapshot: Snapshot) -> bool:
    crd = snapshot.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "computedomains.resource.nvidia.com")
    versions = ((crd or {}).get("spec") or {}).get("versions") or []
    return any(version.get("name") == "v1beta1" and version.get("served") for version in versions)


def domains_of(replica: Replica) -> list[ComputeDomain]:
    """The domains of a replica that have members, each once, in the order of gangs and cliques."""
    found: dict[str, ComputeDomain] = {}
    for gang in replica.gangs:
        for clique in gang.cliques:
            membership = clique.membership
            if membership is not None and clique.is_wanted and domain_name(clique, membership) not in found:
                domain = _domain(clique, membership, gang)
                found[domain.name] = domain
    return list(found.values())


def domain_name(clique: Clique, membership: Membership) -> str:
    """The name of the domain that a clique joins (design, Naming Convention Summary; shipped semantics §9)."""
    if membership.way == GROUP:
        return names.group_domain(clique.replica.name, membership.group)
    return names.compute_domain(_stem(clique, membership.scope))


def claim_name(clique: Clique, membership: Membership) -> str:
    """What its pods refer to: of a shipped group, the template that the driver makes under the domain's own name."""
    if membership.way == GROUP:
        return domain_name(clique, membership)
    return names.mnnvl_claim(_stem(clique, membership.scope))


def pod_claim_of(clique: Clique) -> PodClaim | None:
    """How the pods of a clique refer to the claim of their domain; none when they are in no domain."""
    membership = clique.membership
    if membership is None:
        return None
    spec = clique.template.pod_spec
    name = "mnnvl-claim" if membership.way == GROUP else "mnnvl"
    shared = membership.way == ANNOTATIONS and clique.set.mnnvl_shape == AS_PROPOSED
    target = claim_name(clique, membership)
    declared = [claim.get("name") for claim in spec.get("resourceClaims") or []]
    pointers = [box.pointer for box in clique.gpu_containers if name not in box.claim_names]
    return PodClaim(name, target if shared else None, None if shared else target, name not in declared, pointers)


def _stem(clique: Clique, scope: str) -> str:
    """The name of what the domain belongs to."""
    if scope == SCALING_GROUP_REPLICA and clique.member is not None:
        return clique.member.name
    return clique.replica.name if scope == REPLICA else clique.name


def _domain(clique: Clique, membership: Membership, gang: Gang) -> ComputeDomain:
    own = clique if membership.scope == CLIQUE else None
    member = clique.member if membership.scope in (CLIQUE, SCALING_GROUP_REPLICA) else None
    holder = clique.replica.base_gang if membership.scope == REPLICA else gang
    owner = holder.ref if membership.way == ANNOTATIONS else clique.set.ref
    driver_shaped = membership.way == GROUP or clique.set.mnnvl_shape == DRIVER
    name = domain_name(clique, membership)
    return ComputeDomain(name, claim_name(clique, membership), membership, driver_shaped, owner, member, own)
