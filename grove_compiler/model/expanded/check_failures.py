"""Preflight checks of a clique's pods that fail: which, since when, and when the next try is due (ADR-026; LWS KEP-820).

Nothing remembers how often a check has failed but the condition of the PodClique, which stands for as long as its checks fail: the next try
is due after as long as that again, so that pauses double.
"""

from __future__ import annotations

from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.live_object import condition_since, old_status
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.check_run import CheckRun
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record

FAILING = "PreflightFailing"


def check_back_off(elapsed: float) -> float:
    """Decides how many seconds pass before checks are tried again that have failed for some seconds."""
    raise NotImplementedError


@record(slots=False)
class FailedCheck:
    """A pod whose check has failed last; the kubelet tries again where the pod is not finished."""

    clique: Clique
    pod: LivePod
    run: CheckRun

    @lazy
    def ended(self) -> float:
        """When it failed, in seconds since the epoch; where its node does not say, when the pod was made."""
        return self.run.ended or time(self.pod.created or None) or 0.0

    @lazy
    def retry_at(self) -> float:
        """When the pod is made again, by the rule `check_back_off`."""
        since = failing_since(self.clique)
        elapsed = 0.0 if since is None else max(0.0, self.ended - since)
        return self.ended + self.clique.set.decisions.of(check_back_off)(elapsed)


@remembered
def failed_checks(clique: Clique) -> list[FailedCheck]:
    """Returns the pods of a clique whose checks fail, each with the check that failed last."""
    found = []
    for pod in live_pods(clique):
        runs = [run for run in pod.tested.last_runs if run.exit_code]
        if runs and not pod.is_ready:
            found.append(FailedCheck(clique, pod, max(runs, key=lambda run: run.ended)))
    return found


def failing_since(clique: Clique) -> float | None:
    """Returns since when checks of a clique fail, as its condition says; none while they do not."""
    return time(condition_since(clique, FAILING) or None) if is_true_in(old_status(clique), FAILING) else None


@remembered
def checks_are_over(clique: Clique) -> bool:
    """Tells whether each of a clique's pods is there and has all its checks behind it."""
    passed = sum(pod.tested.has_no_check_left for pod in live_pods(clique) if not pod.is_finished)
    return passed >= clique.replicas
