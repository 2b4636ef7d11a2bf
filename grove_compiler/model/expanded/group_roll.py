"""How the replicas of a scaling group are replaced by newer ones: each as a whole, for its pods work together."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.clique_state import is_up_to_date
from grove_compiler.model.expanded.live_object import live_object, old_status
from grove_compiler.model.expanded.live_pods import POD_HASH_LABEL, LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.rolls import Roll, Selection, next_selection, one_more_may_go, selected
from grove_compiler.model.expanded.set_update import replica_is_updating
from grove_compiler.model.expanded.structure import Clique, ScalingGroup, ScalingGroupReplica
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record

HASH = "currentPodCliqueSetGenerationHash"


@record(slots=False)
class GroupRoll:
    """What a scaling group's status should say of its update, given what it says already."""

    group: ScalingGroup = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def is_active(self) -> bool:
        """Whether the update has come to this group, and its replicas are replaced one after the other."""
        return self.group.set.is_rolled and replica_is_updating(self.group.replica)

    @lazy
    def is_old(self) -> bool:
        """Whether the status tells of another update than that to what is declared now."""
        return self.old.get("podCliqueSetGenerationHash") != self.group.set.generation_hash

    @lazy
    def starts(self) -> bool:
        """Whether an update of the group begins now; what was counted for an earlier one counts no more (grove #400)."""
        if not self.group.set.is_rolled:
            return self.is_old
        is_late = bool(self.old.get("updateEndedAt")) and self._is_behind
        return self.is_active and (self.is_old or is_late)

    @lazy
    def is_over(self) -> bool:
        """Whether nothing is left to be replaced by us. Where pods are replaced by hand, nothing ever is."""
        if not self.is_active:
            return not self.group.set.is_rolled or bool(self.old.get("updateEndedAt")) or not self.old
        return not self._is_behind and self.roll.serving >= self.group.min_available

    @lazy
    def old_hashes(self) -> Manifest:
        """Which templates the status said that all replicas have, but what is known to be wrong (see `CliqueRoll.old_hashes`)."""
        old = old_status(self.group).get(HASH)
        is_wrong = old == self.group.set.generation_hash and self._is_behind
        return {} if old is None or is_wrong else {HASH: old}

    @lazy
    def _is_behind(self) -> bool:
        return any(map(is_outdated, self.group.members))

    @lazy
    def selection(self) -> Selection:
        """The indices of replicas that served when they were selected, with the next if it may go now."""
        if not self.is_active:
            return Selection()
        old = Selection() if self.starts else selected(self.old.get("readyReplicaIndicesSelectedToUpdate") or {})
        return next_selection(old, self.roll, self.group.set.decisions.of(one_more_may_go))

    @lazy
    def updated_cliques(self) -> int:
        """How many of its PodCliques, and all their pods, have the newest templates."""
        return sum(is_up_to_date(clique) for member in self.group.members for clique in member.cliques)

    @lazy
    def roll(self) -> Roll:
        """Its replicas as things that are replaced one after the other."""
        serving = [member for member in self.group.members if is_available(member)]
        behind = [member.index for member in serving if is_outdated(member)]
        unplaced = sum(_has_no_room(member) for member in self.group.members)
        return Roll(len(self.group.members), len(serving), unplaced, self.group.min_available, behind)


@remembered
def group_roll(group: ScalingGroup) -> GroupRoll:
    """Returns how the update of a scaling group stands."""
    return GroupRoll(group, old_status(group).get("updateProgress") or {})


@remembered
def member_is_updating(member: ScalingGroupReplica) -> bool:
    """Tells whether this replica of a scaling group is to be replaced now: it serves nobody, or was selected and may still go.

    The group's status has to say that the update has come to the group, and which replica was selected: what acts on it is made later.
    """
    roll = group_roll(member.group)
    if not roll.is_active or roll.starts or roll.old.get("updateEndedAt"):
        return False
    if not is_available(member):
        return True
    is_selected = selected(roll.old.get("readyReplicaIndicesSelectedToUpdate") or {}).current == member.index
    return is_selected and member.group.set.decisions.of(one_more_may_go)(roll.roll)


@remembered
def replaced_with_member(member: ScalingGroupReplica) -> list[LivePod]:
    """Returns the pods that have to go now because a replica of a scaling group is replaced, those of older templates last.

    All of them go, for they work together; but nothing that was made anew since. While one of an older template is left, the others are
    known to have to go as well: a crash in between changes nothing.
    """
    if not member_is_updating(member):
        return []
    all = [pod for clique in member.cliques for pod in live_pods(clique)]
    outdated = [pod for pod in all if not pod.has_current_template]
    youngest = max((pod.created for pod in outdated), default="")
    return [pod for pod in all if pod.has_current_template and pod.created <= youngest] + outdated


@remembered
def is_available(member: ScalingGroupReplica) -> bool:
    """Tells whether each clique of a scaling group's replica has as many ready pods as it cannot do without."""
    # Counted here: to know which pods there should be takes the template that they are made from, which depends on this.
    return all(clique.ref.uid and sum(pod.is_ready for pod in live_pods(clique)) >= clique.min_available for clique in member.cliques)


@remembered
def is_outdated(member: ScalingGroupReplica) -> bool:
    """Tells whether a PodClique or a pod of a scaling group's replica is of an older template."""
    return any(map(_is_behind, member.cliques))


def _is_behind(clique: Clique) -> bool:
    labels = (live_object(clique).get("metadata") or {}).get("labels") or {}
    hashes = labels.get(POD_HASH_LABEL), *(pod.template_hash for pod in live_pods(clique))
    return bool(clique.ref.uid) and any(hash != clique.pod_template_hash for hash in hashes)


def _has_no_room(member: ScalingGroupReplica) -> bool:
    cliques = member.cliques
    is_waiting = any(pod.is_unschedulable for clique in cliques for pod in live_pods(clique))
    return not is_available(member) and is_waiting and not any(map(leaving_pods, cliques))
