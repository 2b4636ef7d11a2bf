"""Rolls the replicas of a scaling group to newer templates, each as a whole, because its pods work together.

The pods of a replica work together and know how many they are, so a new size takes effect when the whole replica is replaced. The shipped
operator recreates all its PodCliques then (§3.9, §7.5); here only those are recreated whose size changes.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.clique_state import is_up_to_date
from grove_compiler.model.expanded.live_object import is_scaled_by_others, live_object, old_status
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.rolls import PartRoll, Roll, selected
from grove_compiler.model.expanded.structure import Clique, ScalingGroup, ScalingGroupReplica
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

SELECTED = "readyReplicaIndicesSelectedToUpdate"
STARTED = {"running", "terminated"}
"""The states of a container that has started."""
SIZE_VARIABLE = "GROVE_PCSG_TEMPLATE_NUM_PODS"


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
    def roll(self) -> Roll:
        serving = [member for member in self.part.members if is_available(member)]
        outdated = [member.index for member in serving if is_outdated(member)]
        unplaced = sum(_has_no_room(member) and not _is_scaled_in(member) for member in self.part.members)
        desired = sum(not _is_scaled_in(member) for member in self.part.members)  # the others keep nothing waiting
        return Roll(desired, len(serving), unplaced, self.part.min_available, self._selected.served(desired), outdated, self.at_a_time)


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
    return is_selected and roll.roll.may_replace_next


@record
class Replacement:
    """What of a scaling-group replica is deleted now: PodCliques, which are to have another size, pods, and the `rest` of its pods.

    Others of its pods were replaced before the rest, and know of another size: together these serve nobody.
    """

    cliques: list[Clique]
    pods: list[LivePod]
    rest: list[LivePod] = field(default_factory=list)


@memoized
def replacement(member: ScalingGroupReplica) -> Replacement:
    """Returns what to delete now because a scaling-group replica is replaced; what is outdated itself only once nothing else is left.

    By what is outdated all else is known to be due as well, and any of several deletions may fail. So each step leaves what is left to be
    recognized. The pods of a PodClique that is up to date itself go with it: alone they would be followed by others of the old number.
    """
    due, resized = _due_pods(member), [clique for clique in member.cliques if is_resized(clique)]
    first = Replacement([clique for clique in resized if not _is_behind(clique)], due.following)
    if first.cliques or first.pods:
        return first
    known_by_pods = [clique.name for clique in resized if not _is_behind_itself(clique)]
    last = [pod for pod in due.outdated if pod.clique.name not in known_by_pods]
    has_begun = len(_sizes_told_to_pods(member)) > 1  # the PodCliques alone have the new size before any pod is deleted
    return Replacement(resized, [], last) if has_begun else Replacement(resized, last)


class DuePods(NamedTuple):
    """The pods of a scaling-group replica that are due for replacement: by themselves, and because they work together with those."""

    outdated: list[LivePod]
    following: list[LivePod]


def _due_pods(member: ScalingGroupReplica) -> DuePods:
    """Returns the pods to replace. All are, because they work together, except those that were recreated since.

    Where no outdated one has ever run, as those of an edit that fits nowhere and is taken back, the others have only waited for them, and
    stay unless they were told another number of pods.
    """
    if not member_is_updating(member):
        return DuePods([], [])
    pods = [pod for clique in member.cliques for pod in live_pods(clique)]
    outdated = [pod for pod in pods if not pod.has_current_template]
    current = [pod for pod in pods if pod.has_current_template]
    if not any(has_run(pod.manifest) for pod in outdated):
        sizes = ("", str(member.group.template.pods_per_replica))
        told_another = [pod for pod in current if _told_size(pod.manifest["spec"]) not in sizes]
        return DuePods([*(told_another if is_outdated(member) else []), *outdated], [])
    youngest = max(pod.created for pod in outdated)
    return DuePods(outdated, [pod for pod in current if pod.created <= youngest])


@memoized
def is_available(member: ScalingGroupReplica) -> bool:
    """Reports whether each clique of a scaling-group replica has at least `minAvailable` ready pods."""
    # Counts live pods instead of using `pod_counts`: which pods there should be depends on their template, which depends on this.
    return all(clique.ref.uid and sum(pod.is_ready for pod in live_pods(clique)) >= clique.min_available for clique in member.cliques)


@memoized
def is_outdated(member: ScalingGroupReplica) -> bool:
    """Reports whether a PodClique or a pod of a scaling-group replica has an older template, or was told another size than the rest.

    All are told the size at which the replica was created or last replaced; where they differ, it has been replaced in part.
    """
    return any(map(_is_behind, member.cliques)) or len(_told_sizes(member)) > 1


def _is_behind(clique: Clique) -> bool:
    """Reports whether a PodClique or one of its pods has an older template."""
    return _is_behind_itself(clique) or (bool(clique.ref.uid) and any(not pod.has_current_template for pod in live_pods(clique)))


def _is_behind_itself(clique: Clique) -> bool:
    return bool(clique.ref.uid) and clique.live_hash != clique.pod_template_hash


def _is_whole(member: ScalingGroupReplica) -> bool:
    """Reports whether all declared pods of a scaling-group replica are ready."""
    return all(clique.ref.uid and sum(pod.is_ready for pod in live_pods(clique)) >= clique.replicas for clique in member.cliques)


def _is_scaled_in(member: ScalingGroupReplica) -> bool:
    return not is_available(member) and any(clique.replicas < clique.min_available for clique in member.cliques)


def _has_no_room(member: ScalingGroupReplica) -> bool:
    cliques = member.cliques
    is_waiting = any(pod.is_unschedulable for clique in cliques for pod in live_pods(clique))
    return not is_available(member) and is_waiting and not any(map(leaving_pods, cliques))


@memoized
def advertised_group_size(clique: Clique) -> int:
    """Returns the number of pods of a scaling group's replica that is passed to the containers of a clique.

    It is the number declared when the replica was created or last replaced, by the live PodClique; with `OnDelete` the one declared now.
    """
    if clique.member is None:
        return 0
    declared = clique.member.group.template.pods_per_replica
    if not clique.ref.uid or not clique.set.is_rolled or _is_replaced(clique.member):
        return declared
    live = _live_value(clique)
    return int(live) if live.isascii() and live.isdecimal() else declared


@memoized
def is_resized(clique: Clique) -> bool:
    """Reports whether a PodClique is to be recreated: its scaling-group replica is replaced, and it has the size of an older generation.

    A size that somebody has set through the scale subresource is kept. Nobody has if it is ours as the server tells, or if it was declared
    once, which revisions record for each generation: a size that is declared later in the same one is in none.
    """
    if clique.member is None or not clique.ref.uid or not _is_replaced(clique.member):
        return False
    live, generation = (live_object(clique).get("spec") or {}).get("replicas"), clique.set.generation_hash
    if live is None or live == clique.declared.replicas:
        return False
    older = [revision.replicas(clique.declared.name) for revision in clique.set.revisions if revision.generation_hash != generation]
    return live in older or not is_scaled_by_others(clique)


def _is_replaced(member: ScalingGroupReplica) -> bool:
    return member_is_updating(member) and is_outdated(member)


def has_run(pod: Manifest) -> bool:
    """Reports whether a container of a pod has started at least once."""
    containers = status_of(pod).get("containerStatuses") or []
    return any(one.get("started") or one.get("restartCount") or STARTED & {*(one.get("state") or ())} for one in containers)


def _told_sizes(member: ScalingGroupReplica) -> set[str]:
    """Returns the sizes that the PodCliques of a scaling-group replica and their pods have in their environment."""
    return {size for size in map(_live_value, member.cliques) if size} | _sizes_told_to_pods(member)


def _sizes_told_to_pods(member: ScalingGroupReplica) -> set[str]:
    pods = (pod.manifest["spec"] for clique in member.cliques for pod in live_pods(clique))
    return {size for size in map(_told_size, pods) if size}


def _live_value(clique: Clique) -> str:
    """Returns the value of the variable in the live PodClique; empty without one."""
    return _told_size((live_object(clique).get("spec") or {}).get("podSpec") or {})


def _told_size(pod_spec: Manifest) -> str:
    """Returns the value of the variable in the first container that has it, which need not be the first one: webhooks add others."""
    variables = (variable for container in pod_spec.get("containers") or () for variable in container.get("env") or ())
    return next((str(variable.get("value") or "") for variable in variables if variable.get("name") == SIZE_VARIABLE), "")
