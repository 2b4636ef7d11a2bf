"""Summarises PodCliqueSets: counts of their gangs and pods, and the reason of a wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.ref import Manifest
from grove_cli.queries.facts import deletion_of, gates_of
from grove_compiler.kube.conditions import condition_of, is_held, is_true, status_of
from grove_compiler.kube.pod_request import request_of
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import PART_OF
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.record import record
from kube_objects.manifest import by_label, is_terminating, namespaced_name
from kube_objects.quantity import QuantityError

WAITING = ("Stalled", "WhyPending", "TopologyLevelsUnavailable", "ComputeDomainsUnavailable", "ResourceClaimTemplatesUnavailable")
"""Conditions of a set that explain why it is not ready, by precedence."""
PLACED = "PodScheduled"
"""The condition in which schedulers report of a pod."""
GPUS = "/gpu"
"""The suffix of resources that are whole GPUs: `nvidia.com/gpu`, `amd.com/gpu`."""


@record
class SetSummary:
    """One set. `created` is in seconds since the epoch; `gpus` are requested by its scheduled pods; `why` may be empty."""

    name: str
    replicas: int
    available: int
    updated: int
    gangs: int
    pods: int
    ready: int
    gated: int
    gpus: int
    created: float | None
    why: str


def summaries(sets: Iterable[Manifest], gangs: Iterable[Manifest], pods: Iterable[Manifest]) -> list[SetSummary]:
    """Returns the summaries of sets in their order, by the gangs and pods of their namespaces."""
    by_set = by_label(gangs, PART_OF), by_label(pods, PART_OF)
    return [_summary(pcs, *(each[namespaced_name(pcs)] for each in by_set)) for pcs in sets]


def _summary(pcs: Manifest, gangs: Sequence[Manifest], pods: Sequence[Manifest]) -> SetSummary:
    metadata, status = pcs["metadata"], status_of(pcs)
    active = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
    return SetSummary(
        metadata["name"],
        replicas=count_in((pcs.get("spec") or {}).get("replicas")),
        available=count_in(status.get("availableReplicas")),
        updated=count_in(status.get("updatedReplicas")),
        gangs=len(gangs),
        pods=len(active),
        ready=sum(is_true(pod, "Ready") for pod in active),
        gated=sum(bool(gates_of(pod)) for pod in active),
        gpus=sum(gpus_of(pod) for pod in active if (pod.get("spec") or {}).get("nodeName")),
        created=time(metadata.get("creationTimestamp") or None),
        why=why_of(pcs) or unplaced(active),
    )


def why_of(pcs: Manifest) -> str:
    """Returns why a set is not ready, or that it is terminating; empty if no condition says so."""
    if deletion := deletion_of(pcs):
        return deletion
    true = {condition.get("type"): condition for condition in status_of(pcs).get("conditions") or [] if condition.get("status") == "True"}
    return next((f"{true[waiting].get('reason')}: {true[waiting].get('message')}" for waiting in WAITING if waiting in true), "")


def unplaced(pods: Sequence[Manifest]) -> str:
    """Returns which pod the scheduler cannot place and why, and how many others; empty if none. Few schedulers report that of a gang."""
    found = sorted(unplaced_pods(pods), key=lambda pod: str(pod["metadata"]["name"]))
    if not found:
        return ""
    message = f"Unschedulable: Pod {found[0]['metadata']['name']}: {condition_of(found[0], PLACED).get('message') or ''}".rstrip(": ")
    return f"{message} (and {len(found) - 1} more)" if found[1:] else message


def unplaced_pods(pods: Iterable[Manifest]) -> list[Manifest]:
    """Returns the pods of which the scheduler reports, in the condition `PLACED`, that it cannot place them."""
    return [pod for pod in pods if condition_of(pod, PLACED).get("reason") == "Unschedulable"]


def held_note(pcs: Manifest, *, may_fix: bool = False) -> str:
    """Returns that a further edit of a set has no effect yet, whose spec is held; empty for any other. `may_fix`: it may fix that spec."""
    if not is_held(pcs):
        return ""
    when = "had errors, and this takes effect once none is left" if may_fix else "has errors, and this takes effect once they are fixed"
    return f"its spec {when}: grove why {pcs['metadata']['name']}"


def gpus_of(pod: Manifest) -> int:
    """Returns the whole GPUs that a pod requests."""
    try:
        return sum(request_of(pod["spec"], lambda name: name.endswith(GPUS)).values())
    except QuantityError:  # an API server rejects such a pod
        return 0


def count_in(value: object) -> int:
    """Returns the number in a field; 0 in place of anything else."""
    return value if isinstance(value, int) else 0
