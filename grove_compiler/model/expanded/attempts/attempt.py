"""Finds the current attempt of a training workload's replica, its pods, when it started, and whether the replica is done.

The set's status records the current attempt of each replica, and each pod is labelled with the number of its own. So a counted failure is
never counted again, even after a crash between two writes: by then it belongs to an older attempt.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true_in, status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import ATTEMPT_LABEL
from grove_compiler.model import names
from grove_compiler.model.expanded.live_pods import LivePod, former_pods, leaving_pods, live_pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, Replica
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

ENDS = ("Succeeded", "Failed")
"""The final phases of a set."""


@record(slots=False)
class ReplicaAttempt:
    """The current attempt of a replica. `entry` is its entry in the set's status; empty until the first attempt has begun."""

    replica: Replica = field(repr=False)
    entry: Manifest

    @lazy
    def number(self) -> int:
        """The number of the current attempt, from 1."""
        number = self.entry.get("attempt")
        return number if isinstance(number, int) and number > 0 else 1

    @lazy
    def has_started(self) -> bool:
        """Whether the status records that the pods of this attempt which start together have all started."""
        return bool(self.entry.get("startTime"))

    @lazy
    def has_succeeded(self) -> bool:
        """Whether the status records that the replica has succeeded."""
        return self.entry.get("phase") == "Succeeded"

    @lazy
    def is_over(self) -> bool:
        """Whether the replica will never run again."""
        return self.has_succeeded or has_ended(self.replica.set)

    @lazy
    def older_pods(self) -> list[LivePod]:
        """The pods of other attempts that are to be deleted and are not being deleted yet."""
        others = (pod for clique in self.replica.all_cliques for pod in live_pods(clique) if attempt_number(pod) != self.number)
        return [pod for pod in others if not is_kept(pod)]

    @lazy
    def waits_for(self) -> list[LivePod]:
        """The terminating pods of other attempts, and those of deleted PodCliques: the next attempt begins when the last of them is gone.

        One that has finished, or was deleted before it had a node, holds no resources, even if a finalizer (as Kueue's) keeps its object.
        """
        cliques = self.replica.all_cliques
        others = [pod for clique in cliques for pod in leaving_pods(clique) if attempt_number(pod) != self.number]
        # Those of a deleted PodClique are looked for until all pods of the next one have run.
        former = [pod for clique in cliques if not recorded_attempt(clique).get("startTime") for pod in former_pods(clique)]
        return [pod for pod in (*others, *former) if (pod.node_name or not pod.due) and not pod.is_finished]

    @lazy
    def first_failure(self) -> tuple[str, Manifest] | None:
        """The PodClique that failed first in this attempt, by name, and its report of the failure; none while none has failed."""
        reports = ((clique.name, recorded_attempt(clique).get("failure")) for clique in self.replica.all_cliques)
        failed = [(name, report) for name, report in reports if report]
        return min(failed, key=lambda entry: (str(entry[1].get("time") or ""), not entry[1].get("disruption"), entry[0]), default=None)

    @lazy
    def may_run(self) -> bool:
        """Whether its pods may be made and may start.

        That is: it has neither ended nor failed, no pod of an older attempt is left, the set is not suspended and within its deadline, and
        the back-off after a failure is over. A set that is resumed is suspended until its status says otherwise: whoever suspends it again
        before that ends no attempt, since none has begun.
        """
        is_free = not self.older_pods and not self.waits_for
        pcs = self.replica.set
        is_suspended = pcs.is_suspended or bool(recorded_job(pcs).get("suspendTime"))
        is_held = pcs.is_out_of_time or is_suspended or self.replica.index in pcs.backing_off
        return is_free and not is_held and not self.is_over and self.first_failure is None


@memoized
def replica_attempt(replica: Replica) -> ReplicaAttempt:
    """Returns the current attempt of a replica.

    The set's status is written before the first pod of an attempt is made. One that knows only an older attempt than a pod, or none, was
    emptied or edited: by it, pods that run would count as left over.
    """
    entries = recorded_job(replica.set).get("trainingReplicas") or []
    recorded = ReplicaAttempt(replica, next((entry for entry in entries if entry.get("index") == replica.index), {}))
    later = (pod for clique in replica.all_cliques for pod in live_pods(clique) if _labelled(pod) > recorded.number)
    attempts = [_labelled(pod) for pod in later if _is_named_for(pod, _labelled(pod))]
    return ReplicaAttempt(replica, {"attempt": max(attempts)}) if attempts else recorded


@memoized
def recorded_job(pcs: ExpandedSet) -> Manifest:
    """Returns the status of a set: its own, or for an input without one, that of the set in the snapshot."""
    live = None if pcs.status else pcs.snapshot.live(pcs.ref)
    return pcs.status or status_of(live)


def has_ended(pcs: ExpandedSet) -> bool:
    """Reports whether the status records that a training workload has succeeded or failed."""
    return pcs.is_training and recorded_job(pcs).get("phase") in ENDS


@memoized
def recorded_attempt(clique: Clique) -> dict[str, Any]:
    """Returns the status of a PodClique if it is about the current attempt; empty while it is about an older one, or none."""
    status = status_of(clique.set.snapshot.live(clique.ref))
    return status if status.get("attempt") == replica_attempt(clique.replica).number else {}


@memoized
def attempt_pods(clique: Clique) -> list[LivePod]:
    """Returns the live pods of a clique; for a training workload only those of the current attempt."""
    if not clique.set.is_training:
        return live_pods(clique)
    number = replica_attempt(clique.replica).number
    return [pod for pod in live_pods(clique) if attempt_number(pod) == number]


def is_kept(pod: LivePod) -> bool:
    """Reports whether a finished pod of the previous attempt is kept for its logs."""
    pcs = pod.clique.set
    return pod.is_finished and pcs.keeps_on_restart and attempt_number(pod) == replica_attempt(pod.clique.replica).number - 1


def attempt_number(pod: LivePod) -> int:
    """Returns the attempt that a pod was made for; 1 without the label, as on pods made before attempts were counted.

    Whatever somebody has made of the label, a pod of the current attempt has a name that follows from it.
    """
    labelled, current = _labelled(pod), replica_attempt(pod.clique.replica).number
    if labelled == current or _is_named_for(pod, labelled):
        return labelled
    return current if _is_named_for(pod, current) else labelled


def _labelled(pod: LivePod) -> int:
    text = pod.labels.get(ATTEMPT_LABEL) or ""
    return int(text) if text.isascii() and text.isdecimal() else 1


def _is_named_for(pod: LivePod, attempt: int) -> bool:
    return names.is_of_attempt(pod.name, pod.clique.name, pod.index, attempt)


def start_of(attempt: ReplicaAttempt) -> float | None:
    """Returns when the pods of a replica that start together all ran in this attempt; none before, and once it has failed."""
    recorded = time(attempt.entry.get("startTime") or None)
    if recorded is not None:
        return recorded
    starts = [time(recorded_attempt(clique).get("startTime") or None) for clique in _starting_together(attempt.replica)]
    known = [start for start in starts if start is not None]
    return max(known) if known and len(known) == len(starts) else None


def deciding_cliques(replica: Replica) -> list[Clique]:
    """Returns the cliques whose success completes a replica: those in `successCliques`, or all."""
    names = replica.set.training_limits.get("successCliques")
    return [clique for clique in replica.all_cliques if not names or clique.template.name in names]


@memoized
def is_done(replica: Replica) -> bool:
    """Reports whether a replica has succeeded: by its status, or because all deciding cliques report success."""
    if replica_attempt(replica).has_succeeded:
        return True
    cliques = deciding_cliques(replica)
    return bool(cliques) and all(is_true_in(recorded_attempt(clique), "Succeeded") for clique in cliques)


def _starting_together(replica: Replica) -> list[Clique]:
    """Returns the cliques of the base gang; all cliques if it has none, as where each scaling-group replica is its own gang."""
    return [clique for clique in replica.all_cliques if clique.gang_name == replica.name] or replica.all_cliques
