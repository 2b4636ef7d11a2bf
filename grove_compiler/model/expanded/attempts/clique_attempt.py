"""What becomes of the pods of a clique in the current attempt: which have finished, which are there, which have to be made."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.attempts import indices
from grove_compiler.model.expanded.attempts.attempt import (
    ReplicaAttempt,
    attempt_number,
    attempt_pods,
    leaving,
    recorded_attempt,
    replica_attempt,
)
from grove_compiler.model.expanded.attempts.pod_end import has_finished_well, is_held_up, started_at
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record


@record(slots=False)
class CliqueAttempt:
    """A clique in the current attempt of its replica. `old` is what its status says of this attempt already."""

    clique: Clique = field(repr=False)
    attempt: ReplicaAttempt = field(repr=False)
    old: Manifest

    @lazy
    def leaving(self) -> list[LivePod]:
        """Its pods that are being deleted."""
        return [pod for pod in leaving(self.clique) if attempt_number(pod) == self.attempt.number]

    @lazy
    def succeeded(self) -> list[int]:
        """The indices of pods that have finished well: those on record, and those that can be seen."""
        recorded = indices.read(self.old.get("succeededIndexes") or "", self.clique.replicas)
        seen = {pod.index for pod in (*attempt_pods(self.clique), *self.leaving) if has_finished_well(pod)}
        return sorted(recorded | {index for index in seen if 0 <= index < self.clique.replicas})

    @lazy
    def succeeded_indexes(self) -> str:
        """The same as text: `0-2,5`."""
        return indices.written(self.succeeded)

    @lazy
    def has_succeeded(self) -> bool:
        """Whether all its pods have finished well."""
        return len(self.succeeded) >= self.clique.replicas

    @lazy
    def failed(self) -> list[LivePod]:
        """Its pods that have failed."""
        return [pod for pod in attempt_pods(self.clique) if pod.phase == "Failed"]

    @lazy
    def missing(self) -> list[int]:
        """The indices that nobody holds and that have not finished. A pod that is being deleted holds none."""
        held = {pod.index for pod in attempt_pods(self.clique)}
        return [index for index in range(self.clique.replicas) if index not in held and index not in self.succeeded]

    @lazy
    def has_started(self) -> bool:
        """Whether all its pods have come to run at once in this attempt, or have finished."""
        return bool(self.old.get("startTime")) or (not self.missing and not any(map(is_held_up, attempt_pods(self.clique))))

    def start_time(self, now: float) -> str:
        """Returns since when all its pods run: what is on record, else what their nodes say. A clock that is ahead does not count."""
        starts = [at for pod in attempt_pods(self.clique) if (at := started_at(pod)) is not None]
        recorded: str = self.old.get("startTime") or ""
        return recorded or timestamp(min(max(starts, default=now), now))

    @lazy
    def is_held_up(self) -> bool:
        """Whether a pod of it has not come to run yet, and all of them have not done so before."""
        return not self.old.get("startTime") and not self.has_started

    @lazy
    def holding(self) -> int:
        """How many of its pods have finished well, or are on nodes with nothing known to be wrong with them."""
        good = (pod.node_name and not (pod.is_finished or pod.has_crashed or pod.is_unhealthy) for pod in attempt_pods(self.clique))
        return len(self.succeeded) + sum(map(bool, good))

    @lazy
    def delay(self) -> float:
        """How long it may be short of pods, in seconds."""
        return float(seconds(self.clique.set.termination_delay)) if self.clique.set.termination_delay else 0.0

    @lazy
    def replaces_pods(self) -> bool:
        """Whether a pod that fails or goes is replaced by itself: where enough others are left, or where there is time to do so."""
        return self.delay > 0 or self.holding >= self.clique.min_available

    @lazy
    def was_forgotten(self) -> bool:
        """Whether the PodClique is another one than that which ran: somebody has deleted it, and with it what it had reported."""
        starts_together = self.clique.base_gang_name is None and self.clique.gang_name == self.clique.replica.name
        return starts_together and self.attempt.has_started and not self.old

    @lazy
    def wanted(self) -> list[int]:
        """The indices of pods that have to be made now.

        What is missing before all have run at once has not been made yet, or has done no harm by going. Later it was somebody's deed,
        which is no reason to make a pod among others that have run without it, unless these can do without it.
        """
        if not self.attempt.may_run or self.was_forgotten or (self.old.get("startTime") and not self.replaces_pods):
            return []
        return self.missing


@remembered
def clique_attempt(clique: Clique) -> CliqueAttempt:
    """Returns how the pods of a clique of a training workload stand."""
    return CliqueAttempt(clique, replica_attempt(clique.replica), recorded_attempt(clique))
