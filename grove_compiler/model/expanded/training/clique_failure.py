"""When a clique has failed in the current attempt: what its pods tell, and whether it is time to believe it."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time, timestamp
from grove_compiler.model.expanded.attempts.attempt import replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import CliqueAttempt, clique_attempt
from grove_compiler.model.expanded.attempts.pod_end import Failure, failure_of, finished_at, has_finished_well, is_ours
from grove_compiler.model.expanded.check_failures import failed_checks
from grove_compiler.model.expanded.live_object import condition_since, old_status
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered

LOST_SECONDS = 10.0
"""A pod that is not there although nobody was seen to delete it is believed to be gone after this: a watch may be late."""
LATE_SECONDS = 60.0
"""Pods that start so long after another one failed are late, as where an image is pulled: those that wait for them may have given up."""
PAUSE_SECONDS = 10.0
"""How long a failed pod stays before one that is replaced by itself is."""


def failure_stands_alone(failure: Failure) -> bool:
    """Decides whether a failure has nothing to do with pods of the gang that have not started."""
    raise NotImplementedError


def clique_failure(clique: Clique, now: float) -> Failure | None:
    """Returns why a clique has failed just now; none while it has not, and once it is on record.

    As long as a pod of the gang has not come to run, nobody can tell whether another one failed because it was missing, unless a rule
    says so (`failure_stands_alone`).
    """
    one = clique_attempt(clique)
    if one.attempt.is_over or one.old.get("failure"):
        return None
    if one.was_forgotten:
        return Failure("PodCliqueDeleted", at=now)
    if one.delay > 0:
        return Failure("MinAvailableBreached", message=_shortage(one), at=now) if _is_overdue(one, now) else None
    found = [] if one.replaces_pods else _candidates(one, now)
    if gang_is_held_up(clique):
        found = [failure for failure in found if clique.set.decisions.of(failure_stands_alone)(failure)]
    return min(found, key=lambda failure: (now if failure.at is None else failure.at, not failure.is_disruption, failure.pod), default=None)


def _candidates(one: CliqueAttempt, now: float) -> list[Failure]:
    """What was seen to go wrong. What goes before all have run at once is only made again, if it had not failed."""
    found = [failure_of(pod) for pod in one.failed]
    if one.old.get("startTime"):
        found += [failure_of(pod) for pod in _taken(one)]
        lost = lost_indices(one.clique)
        if lost and now >= lost_since(one.clique, now) + LOST_SECONDS:
            found.append(Failure("PodLost", f"{one.clique.name}-{lost[0]}", at=lost_since(one.clique, now)))
    return found


def _taken(one: CliqueAttempt) -> list[LivePod]:
    """The pods that somebody else has asked to go before they had finished."""
    return [pod for pod in one.leaving if not is_ours(pod) and not has_finished_well(pod) and pod.index not in one.succeeded]


@remembered
def lost_indices(clique: Clique) -> list[int]:
    """Returns the indices whose pods ran, and are gone without a trace."""
    one = clique_attempt(clique)
    if not one.old.get("startTime") or one.replaces_pods or one.attempt.is_over:
        return []
    leaving = {pod.index for pod in one.leaving}
    return [index for index in one.missing if index not in leaving]


def lost_since(clique: Clique, now: float) -> float:
    """Returns since when pods are known to be gone without a trace."""
    since = time(clique_attempt(clique).old.get("lostSince") or None)
    return now if since is None else since


def replaced_pods(clique: Clique, now: float) -> list[LivePod]:
    """Returns the failed pods that are replaced by themselves, each after a pause: one that fails at once would fail without end."""
    one = clique_attempt(clique)
    if not one.replaces_pods or not one.attempt.may_run:
        return []
    return [pod for pod in one.failed if now >= _replaced_at(clique, pod)]


def next_look(clique: Clique, now: float) -> float | None:
    """Returns when time alone will make a difference to a clique that runs; none if it will not."""
    one = clique_attempt(clique)
    if one.attempt.is_over or one.old.get("failure"):
        return None
    due = [_replaced_at(clique, pod) for pod in one.failed] if one.replaces_pods else []
    if lost_indices(clique):
        due.append(lost_since(clique, now) + LOST_SECONDS)
    if one.delay > 0 and (since := _breached_since(clique)) is not None:
        due.append(since + one.delay)
    return min((at for at in due if at > now), default=None)


def is_early(clique: Clique, failure: Failure, now: float) -> bool:
    """Tells whether a pod failed long before the last of its gang had started, which therefore cannot have done its part."""
    if clique.set.decisions.of(failure_stands_alone)(failure):
        return False
    starts = [time(one.start_time(now)) or now for one in _gang(clique)]
    return failure.at is not None and max(starts) >= failure.at + LATE_SECONDS


@remembered
def gang_is_held_up(clique: Clique) -> bool:
    """Tells whether a pod that starts together with the clique's has not come to run yet."""
    return any(one.is_held_up and _waits(one) for one in _gang(clique))


def _waits(one: CliqueAttempt) -> bool:
    """Whether pods of it are there, or will be."""
    return not one.missing or replica_attempt(one.clique.replica).may_run


def _gang(clique: Clique) -> list[CliqueAttempt]:
    return [clique_attempt(one) for one in clique.replica.all_cliques if one.gang_name == clique.gang_name]


def _is_overdue(one: CliqueAttempt, now: float) -> bool:
    since = _breached_since(one.clique)
    return since is not None and now >= since + one.delay


def _breached_since(clique: Clique) -> float | None:
    """Since when a clique that ran has been short of pods by its condition."""
    one = clique_attempt(clique)
    if not one.old.get("startTime") or one.holding >= clique.min_available:
        return None
    is_breached = is_true_in(old_status(clique), "MinAvailableBreached")
    return time(condition_since(clique, "MinAvailableBreached") or None) if is_breached else None


def _shortage(one: CliqueAttempt) -> str:
    return f"{one.holding} of the {one.clique.min_available} pods that it needs"


def _replaced_at(clique: Clique, pod: LivePod) -> float:
    """When a failed pod is replaced by itself: ever later, where it is a check that fails, for that may never end."""
    check = next((one for one in failed_checks(clique) if one.pod.name == pod.name), None)
    return _end(pod) + PAUSE_SECONDS if check is None else check.retry_at


def _end(pod: LivePod) -> float:
    """When a pod ended; where its node does not say, when it was made."""
    ended = finished_at(pod)
    return (time(pod.created or None) or 0.0) if ended is None else ended


def failure_body(clique: Clique, now: float) -> Manifest | None:
    """Returns what a PodClique reports of its failure: what is on record, else what is found now; none while there is none."""
    recorded: Manifest | None = clique_attempt(clique).old.get("failure")
    found = clique_failure(clique, now) if not recorded else None
    if found is None:
        return recorded
    body = {
        "cause": found.cause,
        "time": timestamp(min(now if found.at is None else found.at, now)),
        "pod": found.pod,
        "container": found.container,
        "exitCode": found.exit_code,
        "message": found.message,
        "disruption": found.is_disruption or None,
        "early": is_early(clique, found, now) or None,
    }
    return {key: value for key, value in body.items() if value not in (None, "")}
