"""Reads the PodCliqueSets of a namespace, or of all, with counts of their pods and the reason of a wait."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

from applier.cluster import Cluster, Resource
from applier.ref import Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import is_true, status_of
from grove_compiler.kube.pod_request import request_of
from grove_compiler.kube.quantity import QuantityError
from grove_compiler.kube.timestamp import time
from grove_compiler.model.inputs.snapshot import PART_OF, is_finished, is_terminating
from grove_compiler.record import record
from grove_operator.cluster.facts import deletion_of, gates_of
from grove_operator.cluster.tree_query import find_kind

WAITING = ("Stalled", "WhyPending", "TopologyLevelsUnavailable", "ComputeDomainsUnavailable", "ResourceClaimTemplatesUnavailable")
"""Conditions of a set that explain why it is not ready, by precedence."""
GPUS = "/gpu"
"""The suffix of resources that are whole GPUs: `nvidia.com/gpu`, `amd.com/gpu`."""


@record
class SetSummary:
    """One set. `created` is in seconds since the epoch; `gpus` are requested by its scheduled pods; `why` may be empty."""

    namespace: str
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


@record
class Sets:
    """The sets by namespace and name, and the resources that were listed for them."""

    sets: list[SetSummary]
    kinds: Sequence[Resource]


async def read_sets(cluster: Cluster, namespace: str) -> Sets:
    """Reads the sets of a namespace, or of all if it is empty. Raises `ClusterError`, `NoSuchObject`."""
    resources = await cluster.resources()
    kinds = [find_kind(resources, word) for word in (SET_KIND, "PodGang", "Pod")]
    lists = await asyncio.gather(*(cluster.list(kind, namespace) for kind in kinds))
    sets, gangs, pods = (each.items for each in lists)
    by_set = [_by_set(gangs), _by_set(pods)]
    summaries = [_summary(set, *(each[_place(set)] for each in by_set)) for set in sets]
    return Sets(sorted(summaries, key=lambda summary: (summary.namespace, summary.name)), kinds)


def _summary(set: Manifest, gangs: Sequence[Manifest], pods: Sequence[Manifest]) -> SetSummary:
    metadata, status = set["metadata"], status_of(set)
    active = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
    return SetSummary(
        metadata.get("namespace") or "",
        metadata["name"],
        replicas=_count((set.get("spec") or {}).get("replicas"), 0),
        available=_count(status.get("availableReplicas")),
        updated=_count(status.get("updatedReplicas")),
        gangs=len(gangs),
        pods=len(active),
        ready=sum(is_true(pod, "Ready") for pod in active),
        gated=sum(bool(gates_of(pod)) for pod in active),
        gpus=sum(_gpus(pod) for pod in active if (pod.get("spec") or {}).get("nodeName")),
        created=time(metadata.get("creationTimestamp") or None),
        why=why_of(set),
    )


def why_of(set: Manifest) -> str:
    """Returns why a set is not ready, or that it is terminating; empty if no condition says so."""
    if deletion := deletion_of(set):
        return deletion
    true = {condition.get("type"): condition for condition in status_of(set).get("conditions") or [] if condition.get("status") == "True"}
    return next((f"{true[type].get('reason')}: {true[type].get('message')}" for type in WAITING if type in true), "")


def _gpus(pod: Manifest) -> int:
    try:
        return sum(request_of(pod["spec"], lambda name: name.endswith(GPUS)).values())
    except QuantityError:  # an API server rejects such a pod
        return 0


def _by_set(manifests: Iterable[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    by_set: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        by_set[manifest["metadata"].get("namespace") or "", (manifest["metadata"].get("labels") or {}).get(PART_OF) or ""].append(manifest)
    return by_set


def _place(set: Manifest) -> tuple[str, str]:
    return set["metadata"].get("namespace") or "", set["metadata"]["name"]


def _count(value: object, default: int = 0) -> int:
    return value if isinstance(value, int) else default
