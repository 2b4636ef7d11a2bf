"""Rolls the replicas of a scaling group to newer templates, each as a whole, because its pods work together."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.labels import POD_HASH_LABEL
from grove_compiler.model.expanded.clique_state import is_up_to_date
from grove_compiler.model.expanded.live_object import live_object, old_status
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.rolls import PartRoll, Roll, selected
from grove_compiler.model.expanded.structure import Clique, ScalingGroup, ScalingGroupReplica
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

SELECTED = "readyReplicaIndicesSelectedToUpdate"


@record(slots=False)
class GroupRoll(PartRoll):
    """The update of a scaling group."""

    part: ScalingGroup = field(repr=False)

    _selected_items = SELECTED

    @lazy
    def _outdated(self) -> list[ScalingGroupReplica]:
        return [member for member in self.part.members if is_outdated(member)]

    @lazy
    def _is_whole(self) -> bool:
        return all(map(_is_whole, self.part.members))

    @lazy
    def updated_cliques(self) -> int:
        """How many of its PodCliques have the newest template, and so do all their pods."""
        return sum(is_up_to_date(clique) for member in self.part.members for clique in member.cliques)

    @lazy
    def _roll(self) -> Roll:
        serving = [member for member in self.part.members if is_available(member)]
        outdated = [member.index for member in serving if is_outdated(member)]
        unplaced = sum(_is_scaled_in(member) or _has_no_room(member) for member in self.part.members)
        desired = len(self.part.members)
        return Roll(desired, len(serving), unplaced, self.part.min_available, self._selected.served(desired), outdated)


@memoized
def group_roll(group: ScalingGroup) -> GroupRoll:
    """Returns the update of a scaling group."""
    return GroupRoll(group, old_status(group).get("updateProgress") or {})


@memoized
def member_is_updating(member: ScalingGroupReplica) -> bool:
    """Reports whether this replica of a scaling group is to be replaced now: it is unavailable, or selected and may still be replaced.

    Reads the recorded selection only: the status must name the replica before anything of it is deleted.
    """
    roll = group_roll(member.group)
    if not roll.is_active or roll.starts or roll.old.get("updateEndedAt"):
        return False
    if not is_available(member):
        return True
    is_selected = selected(roll.old, SELECTED).current == member.index
    return is_selected and roll._roll.may_replace_next


@memoized
def replaced_with_member(member: ScalingGroupReplica) -> list[LivePod]:
    """Returns the pods to delete because their scaling-group replica is replaced, those of older templates last.

    All are deleted, because they work together, except those that were recreated since. Outdated pods are deleted last: as long as one is
    left, the others are known to be due as well, so a crash in between changes nothing.
    """
    if not member_is_updating(member):
        return []
    pods = [pod for clique in member.cliques for pod in live_pods(clique)]
    outdated = [pod for pod in pods if not pod.has_current_template]
    youngest = max((pod.created for pod in outdated), default="")
    return [pod for pod in pods if pod.has_current_template and pod.created <= youngest] + outdated


@memoized
def is_available(member: ScalingGroupReplica) -> bool:
    """Reports whether each clique of a scaling-group replica has at least `minAvailable` ready pods."""
    # Counts live pods instead of using `pod_counts`: which pods there should be depends on their template, which depends on this.
    return all(clique.ref.uid and sum(pod.is_ready for pod in live_pods(clique)) >= clique.min_available for clique in member.cliques)


@memoized
def is_outdated(member: ScalingGroupReplica) -> bool:
    """Reports whether a PodClique or a pod of a scaling-group replica has an older template."""
    return any(map(_is_behind, member.cliques))


def _is_behind(clique: Clique) -> bool:
    labels = (live_object(clique).get("metadata") or {}).get("labels") or {}
    hashes = labels.get(POD_HASH_LABEL), *(pod.template_hash for pod in live_pods(clique))
    return bool(clique.ref.uid) and any(template_hash != clique.pod_template_hash for template_hash in hashes)


def _is_whole(member: ScalingGroupReplica) -> bool:
    """Reports whether all declared pods of a scaling-group replica are ready."""
    return all(clique.ref.uid and sum(pod.is_ready for pod in live_pods(clique)) >= clique.replicas for clique in member.cliques)


def _is_scaled_in(member: ScalingGroupReplica) -> bool:
    return not is_available(member) and any(clique.replicas < clique.min_available for clique in member.cliques)


def _has_no_room(member: ScalingGroupReplica) -> bool:
    cliques = member.cliques
    is_waiting = any(pod.is_unschedulable for clique in cliques for pod in live_pods(clique))
    return not is_available(member) and is_waiting and not any(map(leaving_pods, cliques))
