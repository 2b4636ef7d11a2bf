"""What can be seen of a PodClique that runs: how many of its pods are in which state (shipped semantics §7.6, §7.9).

Pods that are being deleted count nowhere. The shipped operator leaves them out of `replicas` alone, so that more pods may be ready than
there are, and an update or an eviction that asks whether one more may go is told that it may while the last one is on its way out. What
is being deleted gets no new requests, and its index is given to its successor at once. Pods that ran to their end count nowhere, too, but
for those of a training workload that have succeeded: they have had their node, and nothing is wrong with them.
"""

from __future__ import annotations

from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.live_object import is_updating, live_object
from grove_compiler.model.expanded.live_pods import POD_HASH_LABEL
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered
from grove_compiler.record import record


@record
class PodCounts:
    """The pods of a clique: all of them, and those in some states.

    `holding` are the scheduled ones that nothing is known to be wrong with: they are ready, or may become so. `gated` are those whose gate
    stays: to count one that this step lifts would be one status more to write, and another to take it back.
    """

    all: int = 0
    ready: int = 0
    scheduled: int = 0
    holding: int = 0
    gated: int = 0
    updated: int = 0


def is_breached(clique: Clique) -> bool:
    """Decides whether a clique has fewer pods than its gang cannot do without."""
    raise NotImplementedError


@remembered
def pod_counts(clique: Clique) -> PodCounts:
    """Returns how many pods of a clique are in which state."""
    counts = PodCounts(gated=sum(pod.existing and pod.gated for pod in pods(clique)))
    for pod in attempt_pods(clique):
        if pod.is_finished:
            continue
        counts.all += 1
        counts.ready += pod.is_ready
        counts.updated += pod.has_current_template
        if pod.node_name:
            counts.scheduled += 1
            counts.holding += not (pod.has_crashed or pod.is_unhealthy)
    if clique.set.is_training:
        succeeded = len(clique_attempt(clique).succeeded)
        counts.all += succeeded
        counts.updated += succeeded
        counts.scheduled += succeeded
        counts.holding += succeeded
    return counts


def status_waits(clique: Clique, at: float) -> bool:
    """Decides whether a step says nothing of a clique at a time: neither fields nor conditions, since it says all of a status or none."""
    raise NotImplementedError


@remembered
def lifts_gates(clique: Clique) -> bool:
    """Tells whether this step takes the gate off a pod of the clique."""
    return pod_counts(clique).gated < sum(pod.is_gated for pod in attempt_pods(clique) if not pod.is_finished)


@remembered
def clique_is_breached(clique: Clique) -> bool:
    """Tells whether a clique is short of pods, by the rule `is_breached`. While its pods are being replaced nobody can say."""
    return not is_updating(clique) and clique.set.decisions.of(is_breached)(clique)


@remembered
def is_up_to_date(clique: Clique) -> bool:
    """Tells whether the clique and all its pods have the template that is declared now."""
    labels = (live_object(clique).get("metadata") or {}).get("labels") or {}
    counts = pod_counts(clique)
    return labels.get(POD_HASH_LABEL) == clique.pod_template_hash and counts.updated == counts.all
