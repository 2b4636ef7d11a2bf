"""Finds conflicts in a set's MNNVL settings: cliques that disagree, start-up orders across gangs, claims with too many users."""

from __future__ import annotations

from grove_compiler.model.expanded.startup import Wait, waits
from grove_compiler.model.spec.mnnvl import CLIQUE, DEFAULT_DEVICE_CLASS, DEVICE_CLASS, SCALING_GROUP_REPLICA, Membership
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record


@record
class ModeConflict:
    """A clique that two modes place in a domain."""

    clique: CliqueTemplate
    first: Membership
    second: Membership


@record
class ClassConflict:
    """A clique whose device class differs from that of an earlier clique of its domain. `path` is the annotation that causes it."""

    clique: CliqueTemplate
    device_class: str
    path: str
    other: CliqueTemplate
    other_class: str


@record
class SharedClaim:
    """The number of pods that would share the claim of a domain, by the set's declared counts. `place` is the field that declares it."""

    place: str
    pods: int


def mode_conflicts(pcs: PodCliqueSet) -> list[ModeConflict]:
    """Returns cliques with two modes, once for each pair of places."""
    conflicts: dict[tuple[str, str], ModeConflict] = {}
    for clique in pcs.cliques:
        memberships = pcs.mnnvl.memberships(clique)
        for second in memberships[1:]:
            conflicts.setdefault((memberships[0].place, second.place), ModeConflict(clique, memberships[0], second))
    return list(conflicts.values())


def class_conflicts(pcs: PodCliqueSet) -> list[ClassConflict]:
    """Returns cliques that request another device class than their domain has: the domain's claim can name only one."""
    first: dict[tuple[str, str], tuple[CliqueTemplate, Membership]] = {}
    conflicts = []
    for clique, membership in pcs.mnnvl.scoped:
        other, others = first.setdefault(_domain(clique, membership), (clique, membership))
        if others.device_class != membership.device_class:
            source = pcs.mnnvl.layer_of(clique).effective(DEVICE_CLASS) or pcs.mnnvl.layer_of(other).effective(DEVICE_CLASS)
            path = source.path if source else membership.place
            conflicts.append(ClassConflict(clique, membership.device_class or DEFAULT_DEVICE_CLASS, path, other, others.device_class))
    return conflicts


def lost_waits(pcs: PodCliqueSet) -> list[Wait]:
    """Returns the start-up dependencies on a clique of another gang, where each replica of a scaling group is its own gang.

    Such a dependency cannot be honoured: init containers only wait for cliques of their own gang.
    """
    if not pcs.mnnvl.is_mentioned or not pcs.mnnvl.gang_per_replica_groups:
        return []
    return [wait for clique in pcs.cliques for wait in waits(pcs, clique) if _is_across_gangs(pcs, wait.clique.group, wait.other.group)]


def _is_across_gangs(pcs: PodCliqueSet, group: ScalingGroupTemplate | None, other: ScalingGroupTemplate | None) -> bool:
    return group is not other and (pcs.mnnvl.gang_per_replica(group) or pcs.mnnvl.gang_per_replica(other))


def shared_claims(pcs: PodCliqueSet) -> list[SharedClaim]:
    """Returns the claims of domains by annotations, each with the pods that would use it in one replica of the set."""
    shared: dict[tuple[str, str], SharedClaim] = {}
    for clique, membership in pcs.mnnvl.scoped:
        claim = shared.setdefault(_domain(clique, membership), SharedClaim(membership.place, 0))
        whole_group = clique.group is not None and membership.scope not in (CLIQUE, SCALING_GROUP_REPLICA)
        claim.pods += clique.replicas * ((clique.group.replicas or 1) if clique.group and whole_group else 1)
    return list(shared.values())


def _domain(clique: CliqueTemplate, membership: Membership) -> tuple[str, str]:
    """Returns the key that distinguishes the domains of one replica: the scope, and the clique or group that it is for."""
    if membership.scope == CLIQUE:
        return CLIQUE, clique.name
    return membership.scope, clique.group.name if membership.scope == SCALING_GROUP_REPLICA and clique.group else ""
