"""Tells until when the pods of a new PodClique are on their way, and nothing that is worth a write can be said of it.

From the moment that gates are lifted until pods are ready, a clique goes through states that last a moment each: not looked at by the
scheduler, on nodes in part, on nodes, ready in part. To write each of them made a fifth of all that a large set cost.
"""

from __future__ import annotations

from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.pod_state import pod_condition, scheduler_has_spoken
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.configuration import DEFAULT_SCHEDULER
from grove_compiler.model.lazy import remembered

STARTING_SECONDS = 3.0
"""How long a pod that is on a node may take to be ready before somebody wants to know."""
QUEUED_SECONDS = 20.0
"""How long after it was made a pod may wait until Kubernetes' own scheduler looks at it: it is busy if a thousand come at once."""
OTHERS_QUEUED_SECONDS = 3.0
"""The same for another scheduler, of which nobody knows whether it runs at all."""


@remembered
def first_start_ends(clique: Clique) -> float | None:
    """Returns when the first of a clique's pods takes longer than it should to get ready; none if there is something to say now.

    There is, once something was said before, if a pod is in trouble, held by its gate or finished, and if all are ready. What a training
    workload says is the record that it goes by, which does not wait.
    """
    if clique.set.is_training or old_status(clique):
        return None
    ends = [_ends(pod) for pod in attempt_pods(clique) if not pod.is_ready]
    return None if None in ends else min((end for end in ends if end is not None), default=None)


def _ends(pod: LivePod) -> float | None:
    """Returns until when one pod is on its way; none if it is not."""
    if pod.is_gated or pod.is_finished or pod.has_crashed or pod.is_unhealthy:
        return None
    if pod.node_name:
        since, patience = pod_condition(pod, "PodScheduled").get("lastTransitionTime"), STARTING_SECONDS
    else:
        is_default = pod.manifest["spec"].get("schedulerName", DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER
        since = None if scheduler_has_spoken(pod) else pod.created
        patience = QUEUED_SECONDS if is_default else OTHERS_QUEUED_SECONDS
    began = time(since or None)
    return None if began is None else began + patience
