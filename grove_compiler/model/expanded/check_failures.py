"""Finds the failing preflight checks of a clique's pods: which, since when, and when to retry (ADR-026; LWS KEP-820).

The number of attempts is stored nowhere. The PodClique's condition tells for how long checks have been failing, and the next attempt
follows after as long again, so that pauses double.
"""

from __future__ import annotations

from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.live_object import condition_since, old_status
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.check_run import CheckRun
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

FAILING = "PreflightFailing"
MIN_PAUSE, MAX_PAUSE = 10.0, 3600.0
"""The shortest and longest back-off, in seconds."""


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
        return self.run.ended or time(self.pod.created or None) or 0.0

    @lazy
    def retry_at(self) -> float:
        """When the pod is recreated, in seconds since the epoch."""
        since = failing_since(self.clique)
        elapsed = 0.0 if since is None else max(0.0, self.ended - since)
        return self.ended + back_off(elapsed)


@memoized
def failed_checks(clique: Clique) -> list[FailedCheck]:
    """Returns the pods of a clique whose checks fail, each with its last failed check."""
    failed = []
    for pod in live_pods(clique):
        runs = [run for run in pod.tested.last_runs if run.exit_code]
        if runs and not pod.is_ready:
            failed.append(FailedCheck(clique, pod, max(runs, key=lambda run: run.ended)))
    return failed


def failing_since(clique: Clique) -> float | None:
    """Returns since when checks of a clique have been failing, from its condition; none while they do not."""
    return time(condition_since(clique, FAILING) or None) if is_true_in(old_status(clique), FAILING) else None


@memoized
def checks_are_over(clique: Clique) -> bool:
    """Reports whether all pods of a clique exist and have passed all their checks."""
    passed = sum(pod.tested.has_no_check_left for pod in live_pods(clique) if not pod.is_finished)
    return passed >= clique.replicas
