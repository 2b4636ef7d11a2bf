"""An update of a set: whether one goes on, and which replica of the set it has come to (shipped semantics §7.4, §7.5).

It rests on what PodCliques and scaling groups report, not on their pods. What it comes to stands in the status of the set before any
replica acts on it; so whoever starts anew, and each replica by itself, reads the same.
"""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.availability import ReplicaState
from grove_compiler.model.expanded.structure import ExpandedSet, Replica
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record


def update_order(state: ReplicaState) -> list[int]:
    """Decides which replica is updated next: of those that are not up to date the one with the lowest values, compared one by one."""
    raise NotImplementedError


@record(slots=False)
class SetUpdate:
    """What a set's status should say of its update, given what it says already."""

    set: ExpandedSet = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def starts(self) -> bool:
        """Whether an update begins now: what is declared is not what was, or what was left to people's deletes no longer is.

        An edit during an update starts it anew, with all that was counted (grove #400).
        """
        before = self.set.status.get("currentGenerationHash")
        if before and before != self.set.generation_hash:
            return True
        is_over = not self.old or bool(self.old.get("updateEndedAt"))
        return self.set.is_rolled and is_over and bool(tally(self.set).outdated)

    @lazy
    def is_known(self) -> bool:
        """Whether there is an update to tell of: one that goes on, or one that is over."""
        return self.starts or bool(self.old)

    @lazy
    def current(self) -> Manifest | None:
        """The replica that is updated now, as the status has it if it was so before; none when all are up to date, and for `OnDelete`."""
        if not self.set.is_rolled or (not self.starts and self.old.get("updateEndedAt")):
            return None
        all, behind = tally(self.set).states, tally(self.set).behind
        known = [] if self.starts else [one for one in _unfinished(self.old) if one.get("replicaIndex") in behind]
        if known or not behind:
            return known[0] if known else None
        return {"replicaIndex": min((all[index] for index in sorted(behind)), key=self.set.decisions.of(update_order)).index}

    def currently_updating(self, now: float) -> list[Manifest]:
        """Returns what the status says of that replica; what is chosen now begins now."""
        return [{"updateStartedAt": timestamp(now), **self.current}] if self.current else []

    @lazy
    def is_over(self) -> bool:
        """Whether nothing is left to be updated by us."""
        return self.current is None


@remembered
def set_update(set: ExpandedSet) -> SetUpdate:
    """Returns how the update of a set stands."""
    return SetUpdate(set, set.status.get("updateProgress") or {})


@remembered
def replica_is_updating(replica: Replica) -> bool:
    """Tells whether the set's status says that this replica is the one to be updated to what is declared now."""
    status = replica.set.status
    current = _unfinished(status.get("updateProgress") or {})
    return status.get("currentGenerationHash") == replica.set.generation_hash and replica.index in [
        one.get("replicaIndex") for one in current
    ]


def _unfinished(progress: Manifest) -> list[Manifest]:
    return [one for one in progress.get("currentlyUpdating") or [] if not one.get("updateEndedAt")]
