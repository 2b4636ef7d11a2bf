"""Models the pods of a clique in the current attempt: which have finished, which exist, which are to be created."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.indices import read_indices
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.attempts.attempt import (
    ReplicaAttempt,
    attempt_number,
    attempt_pods,
    recorded_attempt,
    replica_attempt,
)
from grove_compiler.model.expanded.attempts.pod_end import has_finished_well, is_held_up, started_at, tells_its_end
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record


@record(slots=False)
class CliqueAttempt:
    """A clique in the current attempt of its replica. `old` is its status about this attempt, empty before there is one."""

    clique: Clique = field(repr=False)
    attempt: ReplicaAttempt = field(repr=False)
    old: Manifest

    @lazy
    def leaving(self) -> list[LivePod]:
        """Its pods that are being deleted."""
        return [pod for pod in leaving_pods(self.clique) if attempt_number(pod) == self.attempt.number]

    @lazy
    def ending(self) -> list[LivePod]:
        """Its pods that are being deleted and whose programs may still run, as one that writes a checkpoint before it ends."""
        return [pod for pod in self.leaving if pod.node_name and not pod.is_finished]

    @lazy
    def gone(self) -> list[LivePod]:
        """Its pods that are gone, in their last states: of each index without a pod the last one, as far as that is known.

        A watch may show that a pod was evicted and that it is gone at once, so that no step has seen it being deleted.
        """
        held = {pod.index for pod in (*attempt_pods(self.clique), *self.leaving)}
        if all(index in held for index in range(self.clique.replicas)):
            return []  # nearly always
        deleted = (LivePod(self.clique, manifest) for manifest in self.clique.set.snapshot.deleted("Pod", self.clique.ref))
        ours = {pod.index: pod for pod in deleted if attempt_number(pod) == self.attempt.number and pod.index not in held}
        return [pod for pod in ours.values() if tells_its_end(pod)]

    @lazy
    def succeeded(self) -> list[int]:
        """The indices of pods that have succeeded: those recorded in the status, and those observed now."""
        recorded = read_indices(self.old.get("succeededIndexes") or "", self.clique.replicas)
        observed = {pod.index for pod in (*attempt_pods(self.clique), *self.leaving, *self.gone) if has_finished_well(pod)}
        return sorted(recorded | {index for index in observed if 0 <= index < self.clique.replicas})

    @lazy
    def gone_succeeded(self) -> int:
        """How many of its pods have succeeded and are gone."""
        return sum(index not in self._held for index in self.succeeded)

    @lazy
    def _held(self) -> set[int]:
        """The indices that its pods hold; terminating ones do not."""
        return {pod.index for pod in attempt_pods(self.clique)}

    @lazy
    def succeeded_indexes(self) -> str:
        """The indices of pods that have succeeded, as `0-2,5`, the form of `status.completedIndexes` of Kubernetes' Job."""
        ranges: list[list[int]] = []
        for index in self.succeeded:
            if ranges and ranges[-1][1] == index - 1:
                ranges[-1][1] = index
            else:
                ranges.append([index, index])
        return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)

    @lazy
    def has_succeeded(self) -> bool:
        """Whether all its pods have succeeded."""
        return len(self.succeeded) >= self.clique.replicas

    @lazy
    def had_succeeded(self) -> bool:
        """Whether its status records that all its pods have succeeded."""
        return is_true_in(self.old, "Succeeded")

    @lazy
    def failed(self) -> list[LivePod]:
        """Its pods that have failed."""
        return [pod for pod in attempt_pods(self.clique) if pod.phase == "Failed"]

    @lazy
    def missing(self) -> list[int]:
        """The indices without a pod that have not succeeded. A terminating pod does not hold its index."""
        return [index for index in range(self.clique.replicas) if index not in self._held and index not in self.succeeded]

    @lazy
    def ran_at(self) -> str:
        """Since when its pods have run in this attempt, as many as have to start together, by its status; empty before.

        While another clique of its gang has not run yet, a clique that has lost pods starts again: nothing has run together.
        """
        recorded: str = self.old.get("startTime") or ""
        if not recorded or not self.missing or not self.attempt.may_run:
            return recorded
        return "" if self.clique.gang_name in _starting_gangs(self.clique.replica) else recorded

    @lazy
    def _enough_have_run(self) -> bool:
        """Whether as many of its pods as have to start together (`minAvailable`) run, or have ended."""
        ran = {pod.index for pod in attempt_pods(self.clique) if not is_held_up(pod)}
        return len(ran.union(self.succeeded)) >= self.clique.needed

    @lazy
    def has_never_run(self) -> bool:
        """Whether in this attempt its pods have not run at the same time, by its status and by the pods that exist."""
        return not self.old.get("startTime") and not self._enough_have_run

    @lazy
    def has_started(self) -> bool:
        """Whether in this attempt as many of its pods as have to start together have run at the same time, or have finished."""
        return bool(self.ran_at) or self._enough_have_run

    def start_time(self, now: float) -> str:
        """Returns since when its pods run: the recorded time, else the latest start, but not after `now` (clocks may be ahead)."""
        starts = [at for pod in attempt_pods(self.clique) if (at := started_at(pod)) is not None]
        return self.ran_at or timestamp(min(max(starts, default=now), now))

    @lazy
    def is_held_up(self) -> bool:
        """Whether it lacks pods that run, in an attempt in which enough of them have not run before."""
        return not self.has_started

    @lazy
    def holding(self) -> int:
        """How many of its pods have succeeded, or are on nodes and healthy as far as known."""
        return len(self.succeeded) + sum(pod.holds for pod in attempt_pods(self.clique))

    @lazy
    def delay(self) -> float:
        """The terminationDelay, in seconds: how long it may be short of pods; 0 when not set."""
        return float(seconds(self.clique.set.termination_delay)) if self.clique.set.termination_delay else 0.0

    @lazy
    def replaces_pods(self) -> bool:
        """Whether a lost pod is replaced alone: where there is a terminationDelay, or while `minAvailable` others are left.

        No pod of a replica that has ended is.
        """
        return not self.attempt.is_over and (self.delay > 0 or self.holding >= self.clique.min_available)

    @lazy
    def was_forgotten(self) -> bool:
        """Whether the PodClique that ran was deleted, and its recorded status with it, so that this is a new one.

        Where all pods are there only the status was lost, which is reported again: a new PodClique has none.
        """
        starts_together = self.clique.base_gang_name is None and self.clique.gang_name == self.clique.replica.name
        return starts_together and self.attempt.has_started and not self.old and bool(self.missing)

    @lazy
    def to_create(self) -> list[int]:
        """The indices of pods to create now.

        Before all pods have run together, a missing pod was not created yet, or its loss did no harm. Later it was deleted: a new pod
        cannot join others that have run without it, unless pods are replaced one by one. No rank runs twice at once.
        """
        if not self.attempt.may_run or self.was_forgotten or (self.ran_at and not self.replaces_pods):
            return []
        still_run = {pod.index for pod in self.ending}
        return [index for index in self.missing if index not in still_run]


@memoized
def clique_attempt(clique: Clique) -> CliqueAttempt:
    """Returns the state of a training workload's clique in the current attempt."""
    return CliqueAttempt(clique, replica_attempt(clique.replica), recorded_attempt(clique))


def succeeded_pods(clique: Clique) -> int:
    """Returns how many pods of a clique have succeeded, whether they are left or not; 0 for a service, which awaits them again."""
    return len(clique_attempt(clique).succeeded) if clique.set.is_training else 0


def gone_succeeded_pods(clique: Clique) -> int:
    """Returns how many pods of a clique have succeeded and are gone; 0 for a service."""
    return clique_attempt(clique).gone_succeeded if clique.set.is_training else 0


@memoized
def gangs_of_attempt(replica: Replica) -> dict[str, list[CliqueAttempt]]:
    """Returns the cliques of a replica by the names of their gangs."""
    gangs: dict[str, list[CliqueAttempt]] = {}
    for clique in replica.all_cliques:
        gangs.setdefault(clique.gang_name, []).append(clique_attempt(clique))
    return gangs


@memoized
def _starting_gangs(replica: Replica) -> frozenset[str]:
    """Returns the names of the gangs with a clique that has never run. Found once for all: a gang may have thousands of cliques."""
    return frozenset(name for name, states in gangs_of_attempt(replica).items() if any(one.has_never_run for one in states))


def gang_attempts(clique: Clique) -> list[CliqueAttempt]:
    """Returns the cliques of a clique's gang, this one among them."""
    return gangs_of_attempt(clique.replica)[clique.gang_name]


def gang_is_held_up(clique: Clique) -> bool:
    """Reports whether a pod of the clique's gang does not run yet."""
    return clique.gang_name in _held_up_gangs(clique.replica)


@memoized
def _held_up_gangs(replica: Replica) -> frozenset[str]:
    """Returns the names of the gangs with a pod that does not run yet. Found once for all, since a gang may have thousands of cliques."""
    held_up = ((name, state) for name, states in gangs_of_attempt(replica).items() for state in states if state.is_held_up)
    return frozenset(name for name, state in held_up if _will_have_pods(state))


def _will_have_pods(state: CliqueAttempt) -> bool:
    """Reports whether all pods of a clique exist, or missing ones may still be made."""
    return not state.missing or state.attempt.may_run


def failed_before_others_run(clique: Clique) -> int:
    """Returns how many pods of a clique have failed, which nobody replaces while another pod of the gang does not run; 0 for a service."""
    if not clique.set.is_training or not (state := clique_attempt(clique)).failed or state.replaces_pods:
        return 0
    return len(state.failed) if gang_is_held_up(clique) else 0
