"""Counts the pods of a PodClique, and the replicas of a scaling group, by state, and finds what lacks any (shipped semantics §7.6, §7.9).

Terminating pods are not counted. The shipped operator leaves them out of `replicas` only, so that more pods may be ready than exist, and an
update or an eviction may take one more pod while the last one is still terminating. A terminating pod gets no new requests, and its
successor takes its index at once. Finished pods are not counted either, except for those of a training workload that have succeeded.

A scaling group uses the counts of its cliques in this step, not their recorded statuses: so one step writes all of them, and the group's
status is never behind those of its cliques.
"""

from __future__ import annotations

from grove_compiler.model.expanded.attempts.attempt import attempt_pods, replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import succeeded_pods
from grove_compiler.model.expanded.live_object import is_updating, old_status
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.structure import Clique, Replica, ScalingGroup, ScalingGroupReplica
from grove_compiler.model.lazy import memoized
from grove_compiler.record import record


@record
class PodCounts:
    """The number of a clique's pods, in total and by state.

    `holding` are the scheduled ones that are healthy as far as known: ready, or still starting; `holding_older` those of them that have an
    older template. `gated` are those whose gate stays: counting one that this step lifts would cost two extra status writes.
    """

    all: int = 0
    ready: int = 0
    scheduled: int = 0
    holding: int = 0
    holding_older: int = 0
    gated: int = 0
    updated: int = 0


@memoized
def pod_counts(clique: Clique) -> PodCounts:
    """Counts the pods of a clique by state."""
    counts = PodCounts(gated=sum(pod.existing and pod.gated for pod in pods(clique)))
    for pod in attempt_pods(clique):
        if pod.is_finished:
            continue
        counts.all += 1
        counts.ready += pod.is_ready
        counts.updated += pod.has_current_template
        if pod.node_name:
            counts.scheduled += 1
            holds = pod.holds
            counts.holding += holds
            counts.holding_older += holds and not pod.has_current_template
    done = succeeded_pods(clique)
    counts.all += done
    counts.updated += done
    counts.scheduled += done
    counts.holding += done
    return counts


@memoized
def lifts_gates(clique: Clique) -> bool:
    """Reports whether this step removes the scheduling gate of any pod of the clique."""
    return pod_counts(clique).gated < sum(pod.is_gated for pod in attempt_pods(clique) if not pod.is_finished)


@memoized
def clique_is_breached(clique: Clique) -> bool:
    """Reports whether fewer than `minAvailable` pods are ready or still starting; false while an update replaces them (shipped §7.6).

    Pods that crashed or do not become ready do not count.
    """
    return not is_updating(clique) and pod_counts(clique).holding < clique.min_available


def lacks_newer_pods_alone(clique: Clique) -> bool:
    """Reports whether a clique whose pods people replace would have enough of them if all those of the newest template ran.

    Only until all its pods have that template.
    """
    counts, recorded = pod_counts(clique), old_status(clique).get("currentPodTemplateHash")
    is_updated = recorded in (None, clique.pod_template_hash)
    newer = clique.replicas - (counts.all - counts.updated)
    return not clique.set.is_rolled and not is_updated and counts.holding_older + newer >= clique.min_available


@memoized
def is_up_to_date(clique: Clique) -> bool:
    """Reports whether the clique and all its pods have the current template."""
    counts = pod_counts(clique)
    return clique.live_hash == clique.pod_template_hash and counts.updated == counts.all


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


def ready_needed(clique: Clique) -> int:
    """Returns how many ready pods a clique needs: `minAvailable`, without ranks of a training workload that have succeeded."""
    return max(clique.min_available - succeeded_pods(clique), 0)


def ready_declared(clique: Clique) -> int:
    """Returns how many ready pods a clique is to have: all that are declared, without ranks that have succeeded."""
    return clique.replicas - succeeded_pods(clique)


def is_short(clique: Clique) -> bool:
    """Reports whether a clique has fewer ready pods than it needs."""
    return not _is_over(clique) and pod_counts(clique).ready < ready_needed(clique)


def serves_with_fewer(clique: Clique) -> bool:
    """Reports whether a clique has the ready pods that it needs, and fewer than are declared."""
    return not _is_over(clique) and ready_needed(clique) <= pod_counts(clique).ready < ready_declared(clique)


def waiting_gangs(group: ScalingGroup) -> list[str]:
    """Returns the names of the gangs of a scaling group's replicas of which a clique is short of ready pods."""
    members = (member for member in group.members if any(map(is_short, member.cliques)))
    return list(dict.fromkeys(member.gang_name for member in members))


def scaled_in(replica: Replica) -> list[Clique | ScalingGroup]:
    """Returns the cliques and scaling groups of a replica that are scaled below their `minAvailable`, so that it is not available."""
    parts: list[Clique | ScalingGroup] = [*replica.cliques, *replica.scaling_groups]
    return [part for part in parts if part.replicas < part.min_available]


def _is_over(clique: Clique) -> bool:
    """Reports whether a clique is of a training workload whose replica has ended, so that it needs no pods."""
    return clique.set.is_training and replica_attempt(clique.replica).is_over
