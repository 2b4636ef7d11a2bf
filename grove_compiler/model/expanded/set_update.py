"""Tracks the update of a set: whether one is in progress, and which replica is being updated (shipped semantics §7.4, §7.5).

It reads the statuses of PodCliques and scaling groups, not pods. Its decision is written to the set's status before any replica acts on
it, so that a restarted operator, and each replica's own step, read the same.
"""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.availability import ReplicaState
from grove_compiler.model.expanded.structure import ExpandedSet, Replica
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record


@record(slots=False)
class SetUpdate:
    """The update of a set: what its `updateProgress` should be, given what it is (`old`)."""

    set: ExpandedSet = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def is_recorded(self) -> bool:
        """Whether an update is in progress by the status."""
        return bool(self.old) and not self.old.get("updateEndedAt")

    @lazy
    def starts(self) -> bool:
        """Whether an update begins now: the generation hash has changed, or the strategy is no longer `OnDelete` and replicas are outdated.

        An edit during an update restarts it, with all its counts (grove #400).
        """
        before = self.set.status.get("currentGenerationHash")
        if before and before != self.set.generation_hash:
            return True
        return self.set.is_rolled and not self.is_recorded and bool(tally(self.set).outdated)

    @lazy
    def current(self) -> Manifest | None:
        """The status entry of the replica being updated, as recorded if it is; none where no update goes on, and for `OnDelete`."""
        if not self.set.is_rolled or not (self.starts or self.is_recorded):
            return None
        states, unfinished = tally(self.set).states, tally(self.set).unfinished
        recorded = [entry for entry in _in_progress(self.old) if entry.get("replicaIndex") in unfinished]
        if recorded and self.starts:  # it goes on with the replica that may lack something because of the last one
            return {"replicaIndex": recorded[0]["replicaIndex"]}
        if recorded or not unfinished:
            return recorded[0] if recorded else None
        return {"replicaIndex": min((states[index] for index in sorted(unfinished)), key=_update_order).index}

    def currently_updating(self, now: float) -> list[Manifest]:
        """Returns `currentlyUpdating` of the status; a replica that is chosen now starts at `now`."""
        return [{"updateStartedAt": timestamp(now), **self.current}] if self.current else []


@memoized
def set_update(pcs: ExpandedSet) -> SetUpdate:
    """Returns the update of a set."""
    return SetUpdate(pcs, pcs.status.get("updateProgress") or {})


@memoized
def replica_is_updating(replica: Replica) -> bool:
    """Reports whether this replica is the one being updated to the current generation, by the set's status."""
    status = replica.set.status
    updating = [entry.get("replicaIndex") for entry in _in_progress(status.get("updateProgress") or {})]
    return status.get("currentGenerationHash") == replica.set.generation_hash and replica.index in updating


def _update_order(state: ReplicaState) -> tuple[bool, bool, bool, int]:
    """Returns what outdated replicas are sorted by: without scheduled pods first, then breached, then unavailable (shipped §7.5)."""
    return state.has_scheduled_pods, not state.is_breached, state.is_available, state.index


def is_over_out_of_turn(pcs: ExpandedSet, progress: Manifest) -> bool:
    """Reports whether a part with this recorded progress, whose replica is not the one being updated, has nothing left to replace.

    It need not have recorded so itself: where its last pods get ready just as the set ends its update, it is not asked in between.
    """
    return not pcs.is_rolled or not progress or bool(progress.get("updateEndedAt")) or _has_ended(pcs)


def _has_ended(pcs: ExpandedSet) -> bool:
    """Reports whether the set has come to the current generation, by its status: its update has ended, or there never was one."""
    progress = pcs.status.get("updateProgress") or {}
    return pcs.status.get("currentGenerationHash") == pcs.generation_hash and (not progress or bool(progress.get("updateEndedAt")))


def _in_progress(progress: Manifest) -> list[Manifest]:
    return [entry for entry in progress.get("currentlyUpdating") or [] if not entry.get("updateEndedAt")]
