"""Counts the replicas of a scaling group by state (shipped semantics §7.6, §7.9).

It uses the counts of its cliques in this step, not their recorded statuses: so one step writes all of them, and the group's status is never
behind those of its cliques.
"""

from __future__ import annotations

from grove_compiler.model.expanded.clique_state import clique_is_breached, is_up_to_date, lacks_newer_pods_alone, pod_counts
from grove_compiler.model.expanded.structure import ScalingGroup, ScalingGroupReplica
from grove_compiler.model.lazy import memoized
from grove_compiler.record import record


@record
class ReplicaCounts:
    """The number of a scaling group's replicas by state. `holding` are those whose cliques all exist and none of which is breached."""

    scheduled: int = 0
    available: int = 0
    updated: int = 0
    holding: int = 0


@memoized
def replica_counts(group: ScalingGroup) -> ReplicaCounts:
    """Counts the desired replicas of a group by state."""
    counts = ReplicaCounts()
    for member in group.members:
        if not _is_complete(member):
            continue
        counts.holding += not any(clique_is_breached(clique) for clique in member.cliques)
        if not all(pod_counts(clique).scheduled >= clique.min_available for clique in member.cliques):
            continue
        counts.scheduled += 1
        if all(pod_counts(clique).ready >= clique.min_available for clique in member.cliques):
            counts.available += 1
            counts.updated += all(is_up_to_date(clique) for clique in member.cliques)
    return counts


def group_lacks_newer_pods_alone(group: ScalingGroup) -> bool:
    """Reports whether a scaling group would have enough replicas if all pods of the newest templates ran; people replace its pods."""
    lacking = (any(clique_is_breached(clique) and lacks_newer_pods_alone(clique) for clique in member.cliques) for member in group.members)
    return replica_counts(group).holding + sum(lacking) >= group.min_available


@memoized
def group_is_up_to_date(group: ScalingGroup) -> bool:
    """Reports whether all desired cliques of the group exist and have the current templates."""
    return all(_is_complete(member) and all(map(is_up_to_date, member.cliques)) for member in group.members)


def _is_complete(member: ScalingGroupReplica) -> bool:
    return all(clique.ref.uid for clique in member.cliques)
