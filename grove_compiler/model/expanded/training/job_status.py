"""What the status of a training workload says next: its replicas' attempts, the budget that is spent, and how the last attempts ended."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.attempts.attempt import ReplicaAttempt
from grove_compiler.model.expanded.training.job import Job, ReplicaFailure
from grove_compiler.model.expanded.training.replica_course import is_done, start_of
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record

KEPT_ATTEMPTS = 10
ENDED_BY_FAILURE = ("MaxRestartsExceeded", "FailureRule")
"""How a workload ends because a replica has failed, and not because its time is over or all is done."""


@record(slots=False)
class JobStatus:
    """The status of a training workload at a time. Once it has ended, all of it stays as it is."""

    job: Job = field(repr=False)
    now: float

    @lazy
    def outcome(self) -> str:
        return self.job.outcome(self.now)

    @lazy
    def phase(self) -> str:
        """Pending, Running, Succeeded or Failed."""
        if self.outcome:
            return "Succeeded" if self.outcome == "Succeeded" else "Failed"
        return "Running" if any(one["phase"] != "Pending" for one in self.replicas) else "Pending"

    @lazy
    def start_time(self) -> str:
        """When it ran for the first time; empty before."""
        return "" if self.job.started is None else timestamp(self.job.started)

    @lazy
    def completion_time(self) -> str:
        """When it ended; empty before."""
        recorded: str = self.job.old.get("completionTime") or ""
        return recorded or (timestamp(self.now) if self.outcome else "")

    @lazy
    def is_suspended(self) -> bool:
        """Whether it has no pods for now. What has ended is not suspended any more."""
        return self.job.set.is_suspended and not self.outcome

    @lazy
    def is_suspended_now(self) -> bool:
        """Whether that begins now. One that was made so has no pods that would have to go."""
        return self.is_suspended and not self.job.is_suspended and (self.job.set.metadata.get("generation") or 0) > 1

    @lazy
    def restarted_at(self) -> str:
        """The request for a restart that has been carried out last; empty without one."""
        recorded: str = self.job.old.get("restartedAt") or ""
        return recorded if self.outcome else self.job.restart_request or recorded

    @lazy
    def is_restarted_now(self) -> bool:
        """Whether somebody has asked for new attempts. What has not begun, or is suspended, has none that would have to end."""
        has_begun = bool(self.job.old.get("phase")) and not self.is_suspended and not self.job.is_suspended
        return has_begun and self.restarted_at != (self.job.old.get("restartedAt") or "")

    @lazy
    def interruption(self) -> str:
        """Why all attempts that run end now, without a failure: Suspended or Restarted; empty where they go on."""
        return "Suspended" if self.is_suspended_now else "Restarted" if self.is_restarted_now else ""

    @lazy
    def suspend_time(self) -> str:
        """Since when it is suspended; empty while it is not."""
        return timestamp(self.now if self.job.suspended is None else self.job.suspended) if self.is_suspended else ""

    @lazy
    def suspended_seconds(self) -> int:
        """For how long it was suspended before."""
        over = self.job.suspended if self.job.suspended is not None and not self.is_suspended else self.now
        began = self.job.started is not None
        return int(self.job.suspended_seconds + (max(self.now - over, 0.0) if began else 0.0))

    @lazy
    def restart_count(self) -> int:
        """How many restarts of the budget are spent."""
        return self.job.restart_count + sum(one.is_counted for one in self._restarted)

    @lazy
    def disruption_count(self) -> int:
        """How many restarts there were because the cluster took a pod away, counted or not."""
        return (self.job.old.get("disruptionCount") or 0) + sum(one.is_disruption for one in self._restarted)

    @lazy
    def replicas(self) -> list[Manifest]:
        """Each replica's attempt; none of what has not begun its first."""
        if self.job.recorded_outcome:
            return self.job.old.get("trainingReplicas") or []
        entries = (self._entry(one) for one in self.job.attempts)
        return [one for one in entries if len(one) > 3 or one["attempt"] > 1 or one["phase"] != "Pending"]

    @lazy
    def attempts(self) -> list[Manifest]:
        """How the last attempts ended, the oldest first."""
        return [*(self.job.old.get("attempts") or []), *self._ended][-KEPT_ATTEMPTS:]

    @lazy
    def _restarted(self) -> list[ReplicaFailure]:
        return self.job.restarted(self.now)

    @lazy
    def _ended(self) -> list[Manifest]:
        """The attempts that end now."""
        if self.job.recorded_outcome:
            return []
        done = [one for one in self.job.attempts if self._is_done(one) and not one.has_succeeded]
        ended = [ended_attempt(one, "Succeeded", self.now) for one in done]
        if self.outcome in ("", *ENDED_BY_FAILURE):
            ended += [ended_attempt(one.attempt, self.outcome, self.now, one) for one in self.job.failures]
        elif self.outcome != "Succeeded":
            ended += [ended_attempt(one, self.outcome, self.now) for one in self.job.attempts if not self._is_done(one)]
        if self.interruption:
            failed = {failure.index for failure in self.job.failures}
            left = [one for one in self.job.attempts if not self._is_done(one) and one.replica.index not in failed]
            ended += [ended_attempt(one, self.interruption, self.now) for one in left if start_of(one) is not None]
        return ended

    def _is_done(self, attempt: ReplicaAttempt) -> bool:
        return self.outcome == "Succeeded" or is_done(attempt.replica)

    def _entry(self, attempt: ReplicaAttempt) -> Manifest:
        index, start = attempt.replica.index, start_of(attempt)
        is_over = bool(self.interruption) and not self._is_done(attempt)
        failure = next((one for one in self._restarted if one.index == index), None)
        if is_over or failure is not None:
            waits = {} if is_over or failure is None else self._backoff(failure)
            return {"index": index, "attempt": attempt.number + 1, "phase": "Pending", **waits}
        phase = "Succeeded" if self._is_done(attempt) else "Pending" if start is None else "Running"
        keeps = ("failuresInARow", "backoffUntil") if start is None else ("failuresInARow",)
        kept = {key: attempt.entry[key] for key in keeps if key in attempt.entry}
        started = {} if start is None else {"startTime": timestamp(start)}
        return {"index": index, "attempt": attempt.number, "phase": phase, **started, **kept}

    def _backoff(self, failure: ReplicaFailure) -> Manifest:
        if not self.job.backs_off:
            return {}
        return {"failuresInARow": failure.in_a_row, "backoffUntil": timestamp(self.now + failure.wait)}


def job_status(job: Job, now: float) -> JobStatus:
    """Returns what the status of a training workload says at a time."""
    return JobStatus(job, now)


def ended_attempt(attempt: ReplicaAttempt, cause: str, now: float, failure: ReplicaFailure | None = None) -> Manifest:
    """Returns what the status keeps of an attempt that is over: its pods, and what they wrote, go with it."""
    start = start_of(attempt)
    report = failure.report if failure else {}
    body = {
        "replica": attempt.replica.index,
        "attempt": attempt.number,
        "startTime": None if start is None else timestamp(start),
        "endTime": report.get("time") or timestamp(now),
        "cause": report.get("cause") or cause,
        "podClique": failure.clique if failure else None,
        **{key: report.get(key) for key in ("pod", "container", "exitCode", "message")},
        "counted": failure.is_counted if failure else None,
    }
    return {key: value for key, value in body.items() if value is not None}
