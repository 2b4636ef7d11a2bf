"""Computes the status of a training workload: its replicas' attempts, the spent budget, and how the last attempts ended."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.expanded.attempts.attempt import ReplicaAttempt, is_done, start_of
from grove_compiler.model.expanded.training.job import Job, ReplicaFailure, pods_have_succeeded
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record

KEPT_ATTEMPTS = 10
ENDED_BY_FAILURE = ("MaxRestartsExceeded", "FailureRule")
"""The outcomes that are caused by a failed replica, in contrast to a deadline or success."""


@record(slots=False)
class JobStatus:
    """The status of a training workload at the time `now`. Once it has ended, its status no longer changes.

    `outcome` is how it has ended by then: Succeeded, or the reason of its failure; empty while it has not (`rules/lives/training.yaml`).
    """

    job: Job = field(repr=False)
    outcome: str
    now: float

    @lazy
    def phase(self) -> str:
        """Pending, Running, Succeeded or Failed."""
        if self.outcome:
            return "Succeeded" if self.outcome == "Succeeded" else "Failed"
        return "Running" if any(replica["phase"] != "Pending" for replica in self.replicas) else "Pending"

    @lazy
    def completion_time(self) -> str:
        """When it ended; empty before."""
        recorded: str = self.job.old.get("completionTime") or "" if self.job.recorded_outcome else ""
        return recorded or (timestamp(self.now) if self.outcome else "")

    @lazy
    def is_suspended(self) -> bool:
        """Whether it is suspended; false once it has ended."""
        return self.job.set.is_suspended and not self.outcome

    @lazy
    def is_suspended_now(self) -> bool:
        """Whether the suspension begins now. A set that was created suspended has no pods to delete, unless it has adopted some."""
        if not self.is_suspended or self.job.suspended is not None:
            return False
        return (self.job.set.metadata.get("generation") or 0) > 1 or self.job.has_pods

    @lazy
    def restarted_at(self) -> str:
        """The last restart request that was carried out; empty without one."""
        recorded: str = self.job.old.get("restartedAt") or ""
        return recorded if self.outcome else self.job.restart_request or recorded

    @lazy
    def is_restarted_now(self) -> bool:
        """Whether a restart was requested and begins now. A workload that has not begun, or is suspended, has no attempts to end."""
        has_begun = bool(self.job.old.get("phase")) and not self.is_suspended and self.job.suspended is None
        return has_begun and self.restarted_at != (self.job.old.get("restartedAt") or "")

    @lazy
    def interruption(self) -> str:
        """Why all running attempts end now without a failure: Suspended or Restarted; empty where they continue."""
        return "Suspended" if self.is_suspended_now else "Restarted" if self.is_restarted_now else ""

    @lazy
    def suspended_seconds(self) -> int:
        """For how many seconds it has been suspended in total; the time before its start does not count."""
        over = self.job.suspended if self.job.suspended is not None and not self.is_suspended else self.now
        began = self.job.started is not None
        return int(self.job.suspended_seconds + (max(self.now - over, 0.0) if began else 0.0))

    @lazy
    def restart_count(self) -> int:
        """The number of restarts that count against the budget."""
        return self.job.restart_count + sum(failure.is_counted for failure in self._restarted)

    @lazy
    def disruption_count(self) -> int:
        """The number of restarts because of disruptions, whether they count against the budget or not."""
        return (self.job.old.get("disruptionCount") or 0) + sum(failure.is_disruption for failure in self._restarted)

    @lazy
    def replicas(self) -> list[Manifest]:
        """`trainingReplicas` of the status: each replica's attempt; without replicas that have not begun their first."""
        if self.job.recorded_outcome:
            return self.job.old.get("trainingReplicas") or []
        entries = (self._entry(attempt) for attempt in self.job.attempts)
        # An entry with only index, attempt 1 and phase Pending says nothing.
        return [entry for entry in entries if len(entry) > 3 or entry["attempt"] > 1 or entry["phase"] != "Pending"]

    @lazy
    def attempts(self) -> list[Manifest]:
        """The last `KEPT_ATTEMPTS` ended attempts, the oldest first."""
        return [*(self.job.old.get("attempts") or []), *self._ended][-KEPT_ATTEMPTS:]

    @lazy
    def _restarted(self) -> list[ReplicaFailure]:
        """The failures whose replicas are restarted now."""
        return [] if self.outcome else self.job.failures

    @lazy
    def _ended(self) -> list[Manifest]:
        """The attempts that end now."""
        if self.job.recorded_outcome:
            return []
        done = [attempt for attempt in self.job.attempts if self._is_done(attempt) and not attempt.has_succeeded]
        ended = [ended_attempt(attempt, "Succeeded", self.now) for attempt in done]
        unfinished = [attempt for attempt in self.job.attempts if not self._is_done(attempt)]
        if self.outcome in ("", *ENDED_BY_FAILURE):
            ended += [ended_attempt(failure.attempt, self.outcome, self.now, failure) for failure in self.job.failures]
        elif self.outcome != "Succeeded":
            ended += [ended_attempt(attempt, self.outcome, self.now) for attempt in unfinished]
        if self.interruption:
            failed = {failure.index for failure in self.job.failures}
            running = [attempt for attempt in unfinished if attempt.replica.index not in failed and start_of(attempt) is not None]
            ended += [ended_attempt(attempt, self.interruption, self.now) for attempt in running]
        return ended

    def _is_done(self, attempt: ReplicaAttempt) -> bool:
        """Reports whether a replica has succeeded. What ends now is looked at more closely: its pods may have just finished."""
        if self.outcome == "Succeeded" or is_done(attempt.replica):
            return True
        return bool(self.outcome or self.interruption) and attempt.first_failure is None and pods_have_succeeded(attempt.replica)

    def _entry(self, attempt: ReplicaAttempt) -> Manifest:
        index, start = attempt.replica.index, start_of(attempt)
        is_over = bool(self.interruption) and not self._is_done(attempt)
        failure = next((failure for failure in self._restarted if failure.index == index), None)
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


def job_status(job: Job, outcome: str, now: float) -> JobStatus:
    """Returns the status of a training workload at the time `now`, given how it has ended by then; `outcome` is empty while it has not."""
    return JobStatus(job, outcome, now)


def ended_attempt(attempt: ReplicaAttempt, cause: str, now: float, failure: ReplicaFailure | None = None) -> Manifest:
    """Returns the status entry of an ended attempt, which is all that is kept of it: its pods and their logs are deleted.

    `cause` is the outcome of the workload, or why the attempt ended without a failure; empty where a restart follows the failure.
    """
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
        # An attempt that ends the workload is followed by no restart, so that it counts nothing: the sum is always `restartCount`.
        "counted": not cause and failure.is_counted if failure else None,
    }
    return {key: value for key, value in body.items() if value is not None}
