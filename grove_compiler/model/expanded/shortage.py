"""Finds cliques that lack ready pods, leaving out cliques of training workloads that have succeeded or ended."""

from __future__ import annotations

from grove_compiler.model.expanded.attempts.attempt import replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.clique_state import pod_counts
from grove_compiler.model.expanded.structure import Clique, Replica, ScalingGroup


def is_short(clique: Clique) -> bool:
    """Reports whether a clique has fewer ready pods than its `minAvailable`."""
    return not _is_done(clique) and pod_counts(clique).ready < clique.min_available


def serves_with_fewer(clique: Clique) -> bool:
    """Reports whether a clique has the ready pods that it needs, and fewer than are declared."""
    return not _is_done(clique) and clique.min_available <= pod_counts(clique).ready < clique.replicas


def short_cliques(group: ScalingGroup) -> list[Clique]:
    """Returns the cliques of a scaling group that are short of ready pods, replica by replica."""
    return [clique for member in group.members for clique in member.cliques if is_short(clique)]


def waiting_gangs(group: ScalingGroup) -> list[str]:
    """Returns the names of the gangs of a scaling group's replicas of which a clique is short of ready pods."""
    members = (member for member in group.members if any(map(is_short, member.cliques)))
    return list(dict.fromkeys(member.gang_name for member in members))


def scaled_in(replica: Replica) -> list[Clique | ScalingGroup]:
    """Returns the cliques and scaling groups of a replica that are scaled below their `minAvailable`, so that it is not available."""
    parts: list[Clique | ScalingGroup] = [*replica.cliques, *replica.scaling_groups]
    return [part for part in parts if part.replicas < part.min_available]


def _is_done(clique: Clique) -> bool:
    return clique.set.is_training and (replica_attempt(clique.replica).is_over or clique_attempt(clique).has_succeeded)
