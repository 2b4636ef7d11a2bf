"""Models a training workload as a whole: failed and finished replicas, the restart budget and the deadline (GREP-0285).

It reads the statuses of PodCliques about the current attempts, not their pods. Its outcome is written to the set's status before any
replica acts on it. What follows from which fact is the life `training/job` (`rules/lives/training.yaml`).
"""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_in
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from grove_compiler.model.declared import declared
from grove_compiler.model.expanded.attempts.attempt import (
    ReplicaAttempt,
    attempt_pods,
    deciding_cliques,
    has_ended,
    is_done,
    recorded_job,
    replica_attempt,
    start_of,
)
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.attempts.pod_end import failure_description
from grove_compiler.model.expanded.structure import ExpandedSet, Replica
from grove_compiler.model.expanded.training.failure_rules import failure_action
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

CLOCK_SKEW = 60.0
"""Seconds by which the clocks of two operators, of which one has recorded what the other reads, may well differ."""


@record(slots=False)
class ReplicaFailure:
    """The failure of a replica in its current attempt, as reported by its PodClique `clique` in `report`."""

    job: Job = field(repr=False)
    attempt: ReplicaAttempt
    clique: str
    report: Manifest = field(repr=False)

    is_disruption = declared(bool, "disruption", "Whether the cluster evicted or preempted a pod, or lost its node.", of="report")
    is_early = declared(bool, "early", "Whether a pod failed long before others of its gang had started.", of="report")

    @lazy
    def index(self) -> int:
        """The index of the replica."""
        return self.attempt.replica.index

    @lazy
    def action(self) -> str:
        """The action of the first matching failure rule of the set: Restart (default), Fail or Ignore. They only match cause PodFailed."""
        clique = next((clique for clique in self.attempt.replica.all_cliques if clique.name == self.clique), None)
        return failure_action(clique, self.job.limits, self.report)

    @lazy
    def in_a_row(self) -> int:
        """How many consecutive attempts of the replica have failed, this one included. An attempt longer than `longest_wait` resets it."""
        start, end = start_of(self.attempt), time(self.report.get("time") or None)
        is_long = start is not None and end is not None and end - start > longest_wait(self.job.set)
        return 1 if is_long else (self.attempt.entry.get("failuresInARow") or 0) + 1

    @lazy
    def wait(self) -> float:
        """For how many seconds the replica waits before its next attempt: the back-off doubles with each failure, up to its maximum."""
        doublings = min(self.in_a_row - 1, 30)
        return min(self.job.first_wait * 2**doublings, longest_wait(self.job.set)) if self.job.backs_off else 0.0

    @lazy
    def is_counted(self) -> bool:
        """Whether the restart counts against the budget (`maxRestarts`).

        It does unless the gang never fully started, a failure rule ignores the failure, or it is a disruption and the set ignores these.
        """
        is_ignored = self.action == "Ignore" or (self.is_disruption and self.job.ignores_disruptions)
        return not self.is_early and not is_ignored

    @lazy
    def number(self) -> int:
        """Which restart of the budget follows it, if one does: those of the same time are counted in the order of their replicas."""
        before = [failure for failure in self.job.failures if failure.index <= self.index and failure.is_counted]
        return self.job.restart_count + len(before)

    @lazy
    def words(self) -> str:
        """A short description of the failure: `pod demo-0-a-xyz, container main, exited with 1`."""
        return failure_description(self.clique, self.report)


@record(slots=False)
class Job:
    """A training workload. `old` is the recorded status of its set."""

    set: ExpandedSet = field(repr=False)
    old: Manifest = field(repr=False)

    max_restarts = declared(int, "maxRestarts", "Its restart budget.", of="limits")
    ignores_disruptions = declared(bool, "ignoreDisruptions", "Whether disruptions do not count against the budget.", of="limits")
    restart_request = declared(str, "restartedAt", "The time of the last requested restart; empty without one.", of="limits")
    restart_count = declared(int, "restartCount", "The recorded number of restarts that count against the budget.", of="old")

    @lazy
    def attempts(self) -> list[ReplicaAttempt]:
        """The current attempt of each replica."""
        return [replica_attempt(replica) for replica in self.set.replicas]

    @lazy
    def recorded_outcome(self) -> str:
        """The outcome recorded in its status, which is final; empty before there is one."""
        if not has_ended(self.set):
            return ""
        if self.old.get("phase") == "Succeeded":
            return "Succeeded"
        return str(condition_in(self.old, "Failed").get("reason") or "MaxRestartsExceeded")

    @lazy
    def has_succeeded(self) -> bool:
        """Whether all replicas have succeeded, by the statuses of their PodCliques."""
        return bool(self.attempts) and all(is_done(attempt.replica) for attempt in self.attempts)

    @lazy
    def all_pods_have_succeeded(self) -> bool:
        """Whether all pods have succeeded, even if their PodCliques have not reported it yet. Reads pods: use it where that decides."""
        return bool(self.attempts) and all(attempt.has_succeeded or pods_have_succeeded(attempt.replica) for attempt in self.attempts)

    @lazy
    def has_pods(self) -> bool:
        """Whether any pod of its current attempts exists. Reads pods: use it where that decides."""
        return any(attempt_pods(clique) for attempt in self.attempts for clique in attempt.replica.all_cliques)

    @lazy
    def started(self) -> float | None:
        """When its first replica first ran; none before."""
        recorded = time(self.old.get("startTime") or None)
        if recorded is not None:
            return recorded
        return min((start for attempt in self.attempts if (start := start_of(attempt)) is not None), default=None)

    @lazy
    def deadline(self) -> float | None:
        """When `maxRuntime` is over, restarts included; none before its start, without a limit, and while it is suspended."""
        if self.started is None or self.set.max_runtime is None or self.suspended is not None:
            return None
        return self.started + seconds(self.set.max_runtime) + self.suspended_seconds

    @lazy
    def expires(self) -> float | None:
        """When `ttlSecondsAfterFinished` is over and it is to be deleted; none before its end, and without a limit.

        Nor is there one while an edit is held, which may have taken the limit away: a set that is deleted cannot be fixed.
        """
        ended, ttl = time(self.old.get("completionTime") or None), self.set.spec.get("ttlSecondsAfterFinished")
        return None if ended is None or ttl is None or self.set.is_last_valid else ended + ttl

    @lazy
    def suspended(self) -> float | None:
        """Since when it is suspended, by its status; none while it is not."""
        return time(self.old.get("suspendTime") or None)

    @lazy
    def suspended_seconds(self) -> float:
        """For how many seconds it has been suspended in total before."""
        return float(self.old.get("suspendedSeconds") or 0)

    @lazy
    def backs_off(self) -> bool:
        """Whether replicas wait before a restart (`restartBackoff`)."""
        return self._backoff is not None

    @lazy
    def first_wait(self) -> float:
        """The wait after a first failure, in seconds."""
        return seconds((self._backoff or {}).get("initial") or "0")

    @lazy
    def _backoff(self) -> Manifest | None:
        return self.limits.get("restartBackoff")

    @lazy
    def failures(self) -> list[ReplicaFailure]:
        """The failures of replicas in their current attempts, in the order of the replicas."""
        return [
            ReplicaFailure(self, attempt, *report)
            for attempt in self.attempts
            if not is_done(attempt.replica) and (report := attempt.first_failure)
        ]

    @lazy
    def counted_failures(self) -> int:
        """How many of the current failures count against the budget."""
        return sum(failure.is_counted for failure in self.failures)

    @lazy
    def is_exhausted(self) -> bool:
        """Whether the current failures need more restarts than the budget has left."""
        return self.counted_failures > max(self.max_restarts - self.restart_count, 0)

    @lazy
    def budget(self) -> str:
        """What the current failures need of the budget, what it allows and what is used: the same words wherever it is exceeded."""
        *others, last = ["", *(str(failure.index) for failure in self.failures if failure.is_counted)]
        needed = "1 restart is needed" if self.counted_failures == 1 else f"{self.counted_failures} restarts are needed"
        whose = f", for replicas {', '.join(others[1:])} and {last}" if len(others) > 1 else f", for replica {last}" if others else ""
        used = "1 is used" if self.restart_count == 1 else f"{self.restart_count} are used"
        return f"{needed}{whose}; maxRestarts allows {self.max_restarts}, and {used}"

    @lazy
    def recorded_message(self) -> str:
        """What the recorded condition `Failed` says, which is final like the outcome; empty before there is one."""
        return str(condition_in(self.old, "Failed").get("message") or "") if self.recorded_outcome else ""

    @lazy
    def limits(self) -> Manifest:
        """Its declared limits, `spec.trainingSpec`."""
        return self.set.training_limits


@memoized
def training_job(pcs: ExpandedSet) -> Job:
    """Returns the training workload of a set."""
    return Job(pcs, recorded_job(pcs))


def pods_have_succeeded(replica: Replica) -> bool:
    """Reports whether all pods that complete a replica have succeeded, even if their PodCliques have not reported it yet."""
    cliques = deciding_cliques(replica)
    return bool(cliques) and all(clique_attempt(clique).has_succeeded for clique in cliques)


def time_is_up(pcs: ExpandedSet, now: float) -> bool:
    """Reports whether the deadline of a training workload is over, by the recorded start; false before it, and while suspended."""
    status = recorded_job(pcs) if pcs.is_training and pcs.max_runtime else {}
    start = time(status.get("startTime") or None)
    if start is None or status.get("suspendTime"):
        return False
    return now >= start + seconds(pcs.max_runtime or "0") + (status.get("suspendedSeconds") or 0)


def longest_wait(pcs: ExpandedSet) -> float:
    """Returns the longest wait before an attempt, in seconds; 10 minutes by default."""
    return seconds((pcs.training_limits.get("restartBackoff") or {}).get("maximum") or "10m")


def backing_off(pcs: ExpandedSet, now: float) -> frozenset[int]:
    """Returns the indices of the replicas that still wait before their next attempt, by the set's status.

    None waits for longer than it may: a later end was recorded by a clock that is ahead, or by hand.
    """
    entries = [entry for entry in recorded_job(pcs).get("trainingReplicas") or [] if entry.get("backoffUntil")] if pcs.is_training else []
    if not entries:
        return frozenset()
    latest = now + longest_wait(pcs) + CLOCK_SKEW
    return frozenset(entry["index"] for entry in entries if (until := time(entry["backoffUntil"])) is not None and now < until <= latest)
