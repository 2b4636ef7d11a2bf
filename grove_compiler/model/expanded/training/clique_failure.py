"""Detects the failure of a clique in the current attempt, and waits out late watches and slow starts before reporting it."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time, timestamp
from grove_compiler.model.expanded.attempts.clique_attempt import CliqueAttempt, clique_attempt, gang_attempts, gang_is_held_up
from grove_compiler.model.expanded.attempts.pod_end import Failure, failure_of, finished_at, has_finished_well
from grove_compiler.model.expanded.live_object import condition_since, old_status
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.replaced_pods import failed_checks
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.expanded.training.failure_rules import FAIL, failure_action
from grove_compiler.model.lazy import memoized

LOST_SECONDS = 10.0
"""A pod that is missing without an observed end counts as lost after this: the watch may be late."""
LATE_SECONDS = 60.0
"""A pod that starts this long after another one failed is late, as after an image pull: the others may have given up waiting for it. So
may one that has run for so long before it failed: where a quota or the nodes lack room for all, its end lets the missing one start."""
PAUSE_SECONDS = 10.0
"""The pause before a failed pod that is replaced alone is replaced."""


def clique_failure(clique: Clique, now: float) -> Failure | None:
    """Returns why a clique has failed just now; none while it has not, and once the failure is recorded.

    While a pod of the gang does not run yet, another one may have failed only because that one was missing. A failed check counts at
    once, since it reports on its own node only (LWS KEP-820, maxGroupRestarts).
    """
    state = clique_attempt(clique)
    if state.attempt.is_over or state.old.get("failure"):
        return None
    if state.was_forgotten:
        return Failure("PodCliqueDeleted", at=now)
    if final := _final_failures(state):
        return _first(final, now)
    if state.delay > 0:
        shortage = f"{state.holding} of the {clique.min_available} pods that it needs"
        return Failure("MinAvailableBreached", message=shortage, at=now) if _is_overdue(state, now) else None
    failures = [] if state.replaces_pods else _failures(state, now)
    if gang_is_held_up(clique):
        failures = [failure for failure in failures if failure.is_of_check]
    return _first(failures, now)


def _first(failures: list[Failure], now: float) -> Failure | None:
    return min(
        failures, key=lambda failure: (now if failure.at is None else failure.at, not failure.is_disruption, failure.pod), default=None
    )


def _final_failures(state: CliqueAttempt) -> list[Failure]:
    """Returns the failures of pods that would be replaced alone, time after time, although a failure rule ends the workload for them."""
    limits = state.clique.set.training_limits
    failures = map(failure_of, state.failed) if state.replaces_pods and limits.get("failureRules") else ()
    return [failure for failure in failures if failure_action(state.clique, limits, _rule_input(failure)) == FAIL]


def _rule_input(failure: Failure) -> Manifest:
    return {"cause": failure.cause, "container": failure.container, "exitCode": failure.exit_code}


def _failures(state: CliqueAttempt, now: float) -> list[Failure]:
    """Returns all failures of pods. One that is deleted before all have run together is just recreated, unless it had failed."""
    failures = [failure_of(pod) for pod in state.failed]
    if state.ran_at:
        failures += [failure_of(pod) for pod in _deleted_by_others(state)]
        lost = lost_indices(state.clique)
        if lost and now >= lost_since(state.clique, now) + LOST_SECONDS:
            failures.append(Failure("PodLost", f"{state.clique.name}-{lost[0]}", at=lost_since(state.clique, now)))
    return failures


def _deleted_by_others(state: CliqueAttempt) -> list[LivePod]:
    """Returns the pods that others have deleted before they had finished: those that terminate, and those that are gone already."""
    others = [pod for pod in (*state.leaving, *state.gone) if not pod.is_deleted_by_us and not has_finished_well(pod)]
    return [pod for pod in others if pod.index not in state.succeeded]


@memoized
def lost_indices(clique: Clique) -> list[int]:
    """Returns the indices whose pods ran and have disappeared without an observed end."""
    state = clique_attempt(clique)
    if not state.ran_at or state.replaces_pods or state.attempt.is_over:
        return []
    known = {pod.index for pod in (*state.leaving, *state.gone)}
    return [index for index in state.missing if index not in known]


def lost_since(clique: Clique, now: float) -> float:
    """Returns since when pods are known to be lost: the recorded time, else `now`. A clock that was ahead makes nobody wait for longer."""
    since = time(clique_attempt(clique).old.get("lostSince") or None)
    return now if since is None else min(since, now)


def replaced_pods(clique: Clique, now: float) -> list[LivePod]:
    """Returns the failed pods that are replaced alone now, each after a pause, so that one that fails at once does not loop."""
    state = clique_attempt(clique)
    if not state.replaces_pods or not state.attempt.may_run or clique_failure(clique, now) is not None:
        return []
    return [pod for pod in state.failed if now >= _replaced_at(clique, pod)]


def requeue_time(clique: Clique, now: float) -> float | None:
    """Returns when to requeue a clique without any change, in seconds since the epoch; none for never."""
    state = clique_attempt(clique)
    if state.attempt.is_over or state.old.get("failure"):
        return None
    due = [_replaced_at(clique, pod) for pod in state.failed] if state.replaces_pods else []
    if lost_indices(clique):
        due.append(lost_since(clique, now) + LOST_SECONDS)
    if state.delay > 0 and (since := _breached_since(clique)) is not None:
        due.append(since + state.delay)
    return min((at for at in due if at > now), default=None)


def is_early(clique: Clique, failure: Failure, now: float) -> bool:
    """Reports whether a pod may have given up waiting for the last one of its gang, which started after it had failed.

    It may if it had run for long until then, or if the other one was late. One that fails soon after its start has a reason of its own.
    """
    if failure.is_of_check or failure.at is None:
        return False
    last = max(time(state.start_time(now)) or now for state in gang_attempts(clique))
    has_waited = failure.started is not None and failure.at >= failure.started + LATE_SECONDS
    return last > failure.at if has_waited else last >= failure.at + LATE_SECONDS


def _is_overdue(state: CliqueAttempt, now: float) -> bool:
    since = _breached_since(state.clique)
    return since is not None and now >= since + state.delay


def _breached_since(clique: Clique) -> float | None:
    """Returns since when a clique that ran has been short of pods, by its condition; None while it is not."""
    state = clique_attempt(clique)
    if not state.ran_at or state.holding >= clique.min_available:
        return None
    is_breached = is_true_in(old_status(clique), "MinAvailableBreached")
    return time(condition_since(clique, "MinAvailableBreached") or None) if is_breached else None


def _replaced_at(clique: Clique, pod: LivePod) -> float:
    """Returns when a failed pod is replaced alone. Pods with a failed check back off, since that may never succeed."""
    check = next((failed for failed in failed_checks(clique) if failed.pod.name == pod.name), None)
    return _end(pod) + PAUSE_SECONDS if check is None else check.retry_at


def _end(pod: LivePod) -> float:
    """Returns when a pod ended; when its status does not tell, when it was created."""
    ended = finished_at(pod)
    return (time(pod.created or None) or 0.0) if ended is None else ended


def failure_body(clique: Clique, now: float) -> Manifest | None:
    """Returns the `failure` field of a PodClique's status: the recorded one, else one detected now; none while there is none."""
    recorded: Manifest | None = clique_attempt(clique).old.get("failure")
    failure = clique_failure(clique, now) if not recorded else None
    if failure is None:
        return recorded
    body = {
        "cause": failure.cause,
        "time": timestamp(min(now if failure.at is None else failure.at, now)),
        "pod": failure.pod,
        "container": failure.container,
        "exitCode": failure.exit_code,
        "message": failure.message,
        "disruption": failure.is_disruption or None,
        "early": is_early(clique, failure, now) or None,
    }
    return {key: value for key, value in body.items() if value not in (None, "")}
