"""Attempts of a replica of a training workload: which one runs, and which pods belong to it.

The set's status says which attempt of each replica is the current one, and each pod bears the number of its own. So a failure that was
counted is never counted again, whoever forgets what between two writes: it is one of an older attempt by then.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, Replica
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record

ATTEMPT_LABEL = "grove.io/attempt"
ENDS = ("Succeeded", "Failed")
"""The phases of a set that never change any more."""


@record(slots=False)
class ReplicaAttempt:
    """What the set's status says of a replica. `entry` is its own part of it, empty for the first attempt before it has begun."""

    replica: Replica = field(repr=False)
    entry: Manifest

    @lazy
    def number(self) -> int:
        """Which attempt is the current one, from 1."""
        number = self.entry.get("attempt")
        return number if isinstance(number, int) and number > 0 else 1

    @lazy
    def has_started(self) -> bool:
        """Whether it is on record that all pods of this attempt which start together had started."""
        return bool(self.entry.get("startTime"))

    @lazy
    def has_succeeded(self) -> bool:
        """Whether it is on record that the replica is done."""
        return self.entry.get("phase") == "Succeeded"

    @lazy
    def is_over(self) -> bool:
        """Whether nothing of the replica will ever run again."""
        return self.has_succeeded or has_ended(self.replica.set)

    @lazy
    def older_pods(self) -> list[LivePod]:
        """The pods of other attempts that have to go, and that nobody has asked to yet."""
        others = (pod for clique in self.replica.all_cliques for pod in live_pods(clique) if attempt_number(pod) != self.number)
        return [pod for pod in others if not is_kept(pod)]

    @lazy
    def waits_for(self) -> list[LivePod]:
        """The pods of other attempts that are on their way out: the next attempt begins when the last of them is gone.

        One that has ended, or never had a node, holds nothing any more, though somebody's finalizer keeps its object, as a queue's does.
        """
        others = (pod for clique in self.replica.all_cliques for pod in leaving(clique) if attempt_number(pod) != self.number)
        return [pod for pod in others if pod.node_name and not pod.is_finished]

    @lazy
    def failure(self) -> Manifest | None:
        """Why this attempt has failed, as the first PodClique that failed reports it; none while it has not."""
        reports = (recorded_attempt(clique).get("failure") for clique in self.replica.all_cliques)
        return min((one for one in reports if one), key=lambda one: str(one.get("time") or ""), default=None)

    @lazy
    def may_run(self) -> bool:
        """Whether pods of it may be made and may start: it has not ended, nothing is left of an older one, it is not
        suspended, and there is time; and whoever failed has waited for long enough.
        """
        is_free = not self.older_pods and not self.waits_for
        set = self.replica.set
        is_held = set.is_out_of_time or set.is_suspended or self.replica.index in set.backing_off
        return is_free and not is_held and not self.is_over and self.failure is None


@remembered
def replica_attempt(replica: Replica) -> ReplicaAttempt:
    """Returns which attempt of a replica is the current one."""
    entries = recorded_job(replica.set).get("trainingReplicas") or []
    return ReplicaAttempt(replica, next((one for one in entries if one.get("index") == replica.index), {}))


@remembered
def recorded_job(set: ExpandedSet) -> Manifest:
    """Returns the status of a set as it stands: its own, else, for an input that has none, that of the set in the snapshot."""
    live = None if set.status else set.snapshot.live(set.ref)
    return set.status or status_of(live)


def has_ended(set: ExpandedSet) -> bool:
    """Tells whether it is on record that a training workload has succeeded or failed."""
    return set.is_training and recorded_job(set).get("phase") in ENDS


@remembered
def recorded_attempt(clique: Clique) -> dict[str, Any]:
    """Returns what a PodClique has reported of the current attempt; empty while it reports of an older one, or of none."""
    status = status_of(clique.set.snapshot.live(clique.ref))
    return status if status.get("attempt") == replica_attempt(clique.replica).number else {}


@remembered
def attempt_pods(clique: Clique) -> list[LivePod]:
    """Returns the pods of a clique that count: all that live, and for a training workload those of the current attempt alone."""
    if not clique.set.is_training:
        return live_pods(clique)
    number = replica_attempt(clique.replica).number
    return [pod for pod in live_pods(clique) if attempt_number(pod) == number]


def is_kept(pod: LivePod) -> bool:
    """Tells whether a pod of the attempt before stays, for its logs, beside those of the current one."""
    set = pod.clique.set
    return pod.is_finished and set.keeps_on_restart and attempt_number(pod) == replica_attempt(pod.clique.replica).number - 1


@remembered
def leaving(clique: Clique) -> list[LivePod]:
    """Returns the pods of a clique that are being deleted, as what they were."""
    return [LivePod(clique, pod.manifest) for pod in leaving_pods(clique)]


def attempt_number(pod: LivePod) -> int:
    """Returns which attempt a pod was made for: the first, if it does not say, as pods did that were made before attempts were counted."""
    text = pod.labels.get(ATTEMPT_LABEL) or ""
    return int(text) if text.isascii() and text.isdecimal() else 1
