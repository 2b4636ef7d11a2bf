"""A training workload as a whole: which replicas have failed or are done, what is left of the budget and of the time (GREP-0285).

It rests on what PodCliques report of the current attempts, and not on their pods. What it comes to stands in the status of the set before
any replica acts on it. What follows from which fact is decided by rules (`rules/training/outcome.yaml`).
"""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_in
from grove_compiler.kube.duration import SECOND, parse
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import ReplicaAttempt, has_ended, recorded_attempt, recorded_job, replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.attempts.pod_end import INIT_CONTAINER
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.expanded.training.failure_words import failure_words
from grove_compiler.model.expanded.training.replica_course import deciding_cliques, is_done, start_of
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record


def job_outcome(job: Job, at: float) -> str:
    """Decides how a training workload has ended at a time: Succeeded, or the reason why it has failed; empty while it has not."""
    raise NotImplementedError


def restart_wait(failure: ReplicaFailure) -> float:
    """Decides for how many seconds a replica waits before its next attempt begins."""
    raise NotImplementedError


def failure_is_counted(failure: ReplicaFailure) -> bool:
    """Decides whether the restart that a failure asks for is one of those that `maxRestarts` allows."""
    raise NotImplementedError


@record(slots=False)
class ReplicaFailure:
    """Why a replica has failed in its current attempt, as its PodClique `clique` reports it in `report`."""

    job: Job = field(repr=False)
    attempt: ReplicaAttempt
    clique: str
    report: Manifest = field(repr=False)

    @lazy
    def index(self) -> int:
        """The index of the replica."""
        return self.attempt.replica.index

    @lazy
    def is_disruption(self) -> bool:
        """Whether the cluster took a pod away: it was evicted or preempted, or its node is gone."""
        return bool(self.report.get("disruption"))

    @lazy
    def is_early(self) -> bool:
        """Whether a pod gave up long before others of its gang had started."""
        return bool(self.report.get("early"))

    @lazy
    def action(self) -> str:
        """What follows by the first of the set's failure rules that fits: Restart, Fail or Ignore. They are about programs that fail."""
        rules = self.job.limits.get("failureRules") or [] if self.report.get("cause") == "PodFailed" else []
        return next((str(one.get("action")) for one in rules if self._fits(one)), "Restart")

    def _fits(self, rule: Manifest) -> bool:
        container = str(self.report.get("container") or "").removeprefix(INIT_CONTAINER)
        clique = next((one.template.name for one in self.attempt.replica.all_cliques if one.name == self.clique), "")
        is_about = rule.get("clique") in (None, clique) and rule.get("container") in (None, container)
        return is_about and self.report.get("exitCode") in (rule.get("exitCodes") or [])

    @lazy
    def in_a_row(self) -> int:
        """How many attempts of the replica have failed one after the other, this one included. A long one begins the count anew."""
        start, end = start_of(self.attempt), time(self.report.get("time") or None)
        is_long = start is not None and end is not None and end - start > self.job.longest_wait
        return 1 if is_long else (self.attempt.entry.get("failuresInARow") or 0) + 1

    @lazy
    def doublings(self) -> int:
        """How often the first wait has doubled, up to 30 times."""
        return min(self.in_a_row - 1, 30)

    @lazy
    def wait(self) -> float:
        """For how many seconds the replica waits before its next attempt begins, by the rule `restart_wait`."""
        return self.job.set.decisions.of(restart_wait)(self)

    @lazy
    def is_counted(self) -> bool:
        """Whether the restart burns budget, by the rule `failure_is_counted`."""
        return self.job.set.decisions.of(failure_is_counted)(self)

    @lazy
    def words(self) -> str:
        """What happened, in a few words: `pod demo-0-a-xyz, container main, exited with 1`."""
        return failure_words(self.clique, self.report)


@record(slots=False)
class Job:
    """A training workload. `old` is the status of its set as it stands."""

    set: ExpandedSet = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def attempts(self) -> list[ReplicaAttempt]:
        """The current attempt of each replica."""
        return [replica_attempt(replica) for replica in self.set.replicas]

    @lazy
    def recorded_outcome(self) -> str:
        """How it has ended, as its status says already: that never changes any more."""
        if not has_ended(self.set):
            return ""
        if self.old.get("phase") == "Succeeded":
            return "Succeeded"
        return str(condition_in(self.old, "Failed").get("reason") or "MaxRestartsExceeded")

    @lazy
    def has_succeeded(self) -> bool:
        """Whether all pods of all replicas have finished well."""
        return bool(self.attempts) and all(is_done(one.replica) for one in self.attempts)

    @lazy
    def all_pods_have_succeeded(self) -> bool:
        """Whether all pods have finished well, though not all PodCliques may have said so yet. It looks at pods: for when that decides."""
        cliques = [clique for one in self.attempts if not one.has_succeeded for clique in deciding_cliques(one.replica)]
        return bool(self.attempts) and all(clique_attempt(clique).has_succeeded for clique in cliques)

    @lazy
    def has_to_fail(self) -> bool:
        """Whether a replica has failed in a way after which the set wants no restart."""
        return any(failure.action == "Fail" for failure in self.failures)

    @lazy
    def started(self) -> float | None:
        """When its first replica ran for the first time; none before."""
        recorded = time(self.old.get("startTime") or None)
        if recorded is not None:
            return recorded
        return min((start for one in self.attempts if (start := start_of(one)) is not None), default=None)

    @lazy
    def deadline(self) -> float | None:
        """When its time is up, restarts and all; none before its start, without a limit, and while it is suspended."""
        if self.started is None or self.set.max_runtime is None or self.is_suspended:
            return None
        return self.started + parse(self.set.max_runtime) / SECOND + self.suspended_seconds

    @lazy
    def expires(self) -> float | None:
        """When it is to be deleted; none while it has not ended, and where it is to stay."""
        ended, ttl = time(self.old.get("completionTime") or None), self.set.spec.get("ttlSecondsAfterFinished")
        return None if ended is None or ttl is None else ended + ttl

    @lazy
    def suspended(self) -> float | None:
        """Since when it is suspended, as its status says; none while it is not."""
        return time(self.old.get("suspendTime") or None)

    @lazy
    def is_suspended(self) -> bool:
        """Whether it is on record that its pods have to go until it is resumed."""
        return self.suspended is not None

    @lazy
    def suspended_seconds(self) -> float:
        """For how long it was suspended before."""
        return float(self.old.get("suspendedSeconds") or 0)

    @lazy
    def max_restarts(self) -> int:
        """How many restarts its budget allows."""
        return self.limits.get("maxRestarts") or 0

    @lazy
    def backs_off(self) -> bool:
        """Whether a replica waits before it is restarted."""
        return self._backoff is not None

    @lazy
    def first_wait(self) -> float:
        """How long a replica waits after its first failure, in seconds."""
        return _seconds((self._backoff or {}).get("initial"))

    @lazy
    def longest_wait(self) -> float:
        """How long a replica waits at most, in seconds."""
        return _seconds((self._backoff or {}).get("maximum") or "10m")

    @lazy
    def _backoff(self) -> Manifest | None:
        return self.limits.get("restartBackoff")

    @lazy
    def ignores_disruptions(self) -> bool:
        """Whether what the cluster takes away burns no budget."""
        return bool(self.limits.get("ignoreDisruptions"))

    @lazy
    def restart_request(self) -> str:
        """When somebody asked for new attempts last, as the set says; empty if nobody has."""
        return self.limits.get("restartedAt") or ""

    @lazy
    def restart_count(self) -> int:
        """How many restarts of its budget are spent, as its status says."""
        return self.old.get("restartCount") or 0

    @lazy
    def failures(self) -> list[ReplicaFailure]:
        """The replicas that have failed in their current attempts, the first to fail first."""
        found = [
            ReplicaFailure(self, one, *report) for one in self.attempts if not is_done(one.replica) and (report := _first_failure(one))
        ]
        return sorted(found, key=lambda failure: (str(failure.report.get("time") or ""), failure.index))

    @lazy
    def burnt(self) -> int:
        """How much of the budget these failures take."""
        return sum(failure.is_counted for failure in self.failures)

    @lazy
    def is_exhausted(self) -> bool:
        """Whether the failures of now ask for more restarts than are left."""
        return self.burnt > max(self.max_restarts - self.restart_count, 0)

    def outcome(self, now: float) -> str:
        """Returns how it has ended, by the rule `job_outcome`; empty while it has not."""
        return self.set.decisions.of(job_outcome)(self, now)

    def restarted(self, now: float) -> list[ReplicaFailure]:
        """Returns the failures for which a replica is restarted now; none once the whole has ended."""
        return [] if self.outcome(now) else self.failures

    @lazy
    def limits(self) -> Manifest:
        """Its limits as the set declares them."""
        return self.set.training_limits


@remembered
def training_job(set: ExpandedSet) -> Job:
    """Returns a training workload as a whole."""
    return Job(set, recorded_job(set))


def time_is_up(set: ExpandedSet, now: float) -> bool:
    """Tells whether the deadline of a training workload that has begun is over, by what its status says."""
    status = recorded_job(set) if set.is_training and set.max_runtime else {}
    start = time(status.get("startTime") or None)
    if start is None or status.get("suspendTime"):
        return False
    return now >= start + parse(set.max_runtime or "0") / SECOND + (status.get("suspendedSeconds") or 0)


def backing_off(set: ExpandedSet, now: float) -> frozenset[int]:
    """Returns the replicas that have to wait before their next attempt begins, by what the status of the set says."""
    entries = recorded_job(set).get("trainingReplicas") or [] if set.is_training else []
    return frozenset(one["index"] for one in entries if (until := time(one.get("backoffUntil") or None)) is not None and now < until)


def _seconds(duration: str | None) -> float:
    return parse(duration) / SECOND if duration else 0.0


def _first_failure(attempt: ReplicaAttempt) -> tuple[str, Manifest] | None:
    reports = ((clique.name, recorded_attempt(clique).get("failure")) for clique in attempt.replica.all_cliques)
    found = [(name, report) for name, report in reports if report]
    return min(found, key=lambda one: (str(one[1].get("time") or ""), not one[1].get("disruption"), one[0]), default=None)
