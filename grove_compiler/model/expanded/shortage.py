"""Finds cliques that are short of ready pods, leaving out cliques of training workloads that have succeeded or ended."""

from __future__ import annotations

from grove_compiler.model.expanded.attempts.attempt import replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.clique_state import pod_counts
from grove_compiler.model.expanded.structure import Clique, ScalingGroup


def is_short(clique: Clique) -> bool:
    """Reports whether a clique has fewer ready pods than its `minAvailable`."""
    if clique.set.is_training and (replica_attempt(clique.replica).is_over or clique_attempt(clique).has_succeeded):
        return False
    return pod_counts(clique).ready < clique.min_available


def short_cliques(group: ScalingGroup) -> list[Clique]:
    """Returns the cliques of a scaling group that are short of ready pods, replica by replica."""
    return [clique for member in group.members for clique in member.cliques if is_short(clique)]
