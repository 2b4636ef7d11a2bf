"""Finds the pods of a clique that failed a preflight check or have finished, and decides when each is replaced: after a back-off.

Checks (ADR-026; LWS KEP-820): the number of attempts is stored nowhere. The PodClique's condition tells for how long checks have been
failing, and the next attempt follows after as long again, so that pauses double.

Finished pods of services: a kubelet rejects whatever the scheduler sends it while a device plugin is broken (UnexpectedAdmissionError) or
the node has less room than it reports (OutOfcpu), and a program may end at once: without a back-off each of them costs pods without end.
The DaemonSet controller backs off in the same way. The number of pods that did not last is stored nowhere: it is that of the last states
that are known, so that a restarted operator begins with the shortest back-off again.
"""

from __future__ import annotations

from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.attempts.clique_attempt import succeeded_pods
from grove_compiler.model.expanded.live_object import condition_since, old_status
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.check_run import CheckRun
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

FAILING = "PreflightFailing"
MIN_PAUSE, MAX_PAUSE = 10.0, 3600.0
"""The shortest and longest back-off of checks, in seconds."""
MIN_LIFETIME, MAX_LIFETIME = 10.0, 600.0
"""Seconds that a pod must have lasted to be replaced at once: the first one, and one after many that did not last."""


def back_off(elapsed: float) -> float:
    """Returns how many seconds to wait before the next attempt: as long as checks have been failing, within bounds, so that it doubles."""
    return min(max(elapsed, MIN_PAUSE), MAX_PAUSE)


@record(slots=False)
class FailedCheck:
    """A pod whose last check failed. The kubelet retries it unless the pod has finished."""

    clique: Clique
    pod: LivePod
    run: CheckRun

    @lazy
    def ended(self) -> float:
        """When it failed, in seconds since the epoch; when its status does not tell, the pod's creation time."""
        return self.pod.since_creation(self.run.ended)

    @lazy
    def retry_at(self) -> float:
        """When the pod is recreated, in seconds since the epoch."""
        since = failing_since(self.clique)
        elapsed = 0.0 if since is None else max(0.0, self.ended - since)
        return self.ended + back_off(elapsed)


@memoized
def failed_checks(clique: Clique) -> list[FailedCheck]:
    """Returns the pods of a clique whose checks fail, each with its last failed check. Pods of earlier attempts do not count."""
    failed = []
    for pod in attempt_pods(clique):
        runs = [run for run in pod.tested.last_runs if run.exit_code]
        if runs and not pod.is_ready:
            failed.append(FailedCheck(clique, pod, max(runs, key=lambda run: run.ended)))
    return failed


def failing_since(clique: Clique) -> float | None:
    """Returns since when checks of a clique have been failing, from its condition; none while they do not."""
    return time(condition_since(clique, FAILING) or None) if is_true_in(old_status(clique), FAILING) else None


@memoized
def checks_are_over(clique: Clique) -> bool:
    """Reports whether all pods of a clique exist and have passed all their checks. Ranks that have succeeded have none left."""
    passed = sum(pod.tested.has_no_check_left for pod in attempt_pods(clique) if not pod.is_finished)
    return passed + succeeded_pods(clique) >= clique.replicas


@record(slots=False)
class FinishedPod:
    """A pod that has run to completion, or was rejected by its node, and after how many others of its index that did not last."""

    clique: Clique
    pod: LivePod
    predecessors: int

    @lazy
    def retry_at(self) -> float:
        """When the pod is replaced, in seconds since the epoch: in the past for one that has lasted."""
        return _created(self.pod) + min(MIN_LIFETIME * 2.0 ** min(self.predecessors, 64), MAX_LIFETIME)


@memoized
def finished_pods(clique: Clique) -> list[FinishedPod]:
    """Returns the finished pods of a service's clique, but for those whose preflight check failed."""
    if not any(pod.is_finished for pod in live_pods(clique)):
        return []
    failed = {check.pod.name for check in failed_checks(clique)}
    finished = [pod for pod in live_pods(clique) if pod.is_finished and pod.name not in failed]
    return [FinishedPod(clique, pod, _predecessors(clique, pod)) for pod in finished]


def _predecessors(clique: Clique, pod: LivePod) -> int:
    """Returns how many finished pods of its index came before a pod, each soon after the other."""
    count, created = 0, _created(pod)
    for manifest in reversed(clique.set.snapshot.deleted("Pod", clique.ref)):
        before = LivePod(clique, manifest)
        if before.index == pod.index and before.name != pod.name:
            if not is_finished(manifest) or created - _created(before) > 2 * MAX_LIFETIME:
                break
            count, created = count + 1, _created(before)
    return count


def _created(pod: LivePod) -> float:
    return time(pod.created or None) or 0.0
