"""Finds the PodCliques whose status is not written yet: while their gates are removed, and until their pods are ready for the first time.

From lifted gates to ready pods a clique passes through short-lived states: not seen by the scheduler, partly scheduled, scheduled, partly
ready. Writing each of them was a fifth of the cost of a large set.

Server-side apply removes the fields that an apply no longer names: if only a condition of a status were written, its counts would be lost.
So a status is written as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.availability import CLIQUE_KIND
from grove_compiler.model.expanded.clique_state import lifts_gates
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.pod_state import pod_condition, scheduler_has_reported
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.inputs.configuration import DEFAULT_SCHEDULER
from grove_compiler.model.lazy import memoized


class StatusPart(Protocol):
    """A part of an object's status: some of its fields, or a condition."""

    @property
    def of(self) -> ObjectRef: ...


def deferred_statuses(parts: Iterable[StatusPart], replicas: Sequence[Replica], now: float) -> set[ObjectRef]:
    """Returns the PodCliques of these replicas that `parts` are about and whose status is not written at the time `now`."""
    refs = {part.of for part in parts if part.of.kind == CLIQUE_KIND}
    if not refs:
        return refs
    cliques = (clique for replica in replicas for clique in replica.all_cliques if clique.ref in refs)
    return {clique.ref for clique in cliques if _is_deferred(clique, now)}


def _is_deferred(clique: Clique, now: float) -> bool:
    return lifts_gates(clique) or ((ends := first_start_ends(clique)) is not None and now < ends)


STARTING_SECONDS = 3.0
"""How long a scheduled pod may take to become ready before its state is reported."""
QUEUED_SECONDS = 20.0
"""How long after its creation a pod may wait for kube-scheduler, which is busy when a thousand pods come at once."""
OTHERS_QUEUED_SECONDS = 3.0
"""The same for another scheduler; shorter, because it may not be running at all."""


@memoized
def first_start_ends(clique: Clique) -> float | None:
    """Returns when the first of a clique's pods will have taken too long to become ready; none if the status should be written now.

    It should once there is an earlier status, when a pod has failed, is gated or has finished, and when all are ready. The status of a
    training workload is the record that later steps depend on, so it never waits.
    """
    if clique.set.is_training or old_status(clique):
        return None
    ends = [_ends(pod) for pod in attempt_pods(clique) if not pod.is_ready]
    return None if None in ends else min((end for end in ends if end is not None), default=None)


def _ends(pod: LivePod) -> float | None:
    """Returns until when one pod may take to become ready; none if it is not starting normally."""
    if pod.is_gated or pod.is_finished or pod.has_crashed or pod.is_unhealthy:
        return None
    if pod.node_name:
        since, patience = pod_condition(pod, "PodScheduled").get("lastTransitionTime"), STARTING_SECONDS
    else:
        is_default = pod.manifest["spec"].get("schedulerName", DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER
        since = None if scheduler_has_reported(pod) else pod.created
        patience = QUEUED_SECONDS if is_default else OTHERS_QUEUED_SECONDS
    began = time(since or None)
    return None if began is None else began + patience
