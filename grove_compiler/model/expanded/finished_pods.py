"""Finds the finished pods of services, and decides when each is replaced: one that did not last, after a back-off.

A kubelet rejects whatever the scheduler sends it while a device plugin is broken (UnexpectedAdmissionError) or the node has less room than
it reports (OutOfcpu), and a program may end at once: without a back-off each of them costs pods without end. The DaemonSet controller
backs off in the same way. The number of pods that did not last is stored nowhere: it is that of the last states that are known, so that a
restarted operator begins with the shortest back-off again.
"""

from __future__ import annotations

from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.check_failures import failed_checks
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

MIN_LIFETIME, MAX_LIFETIME = 10.0, 600.0
"""Seconds that a pod must have lasted to be replaced at once: the first one, and one after many that did not last."""


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
