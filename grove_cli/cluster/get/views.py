"""Says how the kinds of `grove get` are listed: with which columns, and what a row shows and waits for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.cluster.get.table import KindView, Row
from grove_cli.queries.facts import deadline, deletion_of
from grove_cli.queries.list_query import Found
from grove_cli.queries.pod_columns import containers_ready, restarts, status_text
from grove_cli.queries.sets_query import SetSummary, gpus_of, summaries, unplaced
from grove_cli.queries.tree_query import is_training
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from grove_compiler.kube.timestamp import time, timestamp
from grove_compiler.labels import CLIQUE_LABEL, GANG_LABEL, PART_OF
from grove_compiler.model.inputs.snapshot import is_finished
from kube_objects.manifest import by_label, is_terminating, labels_of, namespaced_name

SCHEDULER = "grove.io/scheduler-name"
FINE = ("Running", "Completed")


def _rows_by_summary(row: Callable[[Manifest, SetSummary, float], Row], found: Found, now: float) -> list[Row]:
    """Returns a row for each set, made of the set and its summary."""
    listed = summaries(found.objects, found.beside["PodGang"], found.beside["Pod"])
    return [row(pcs, summary, now) for pcs, summary in zip(found.objects, listed, strict=True)]


def _set_row(pcs: Manifest, summary: SetSummary, now: float) -> Row:
    counts = (
        f"{summary.available}/{summary.replicas}",
        f"{summary.ready}/{summary.pods}",
        summary.gated,
        f"{summary.updated}/{summary.replicas}",
        summary.gangs,
        summary.gpus,
    )
    more = (pcs.get("spec") or {}).get("workloadType") or "Inference", status_of(pcs).get("currentGenerationHash") or ""
    cells = (summary.name, *map(str, counts), since(summary.created, now), *map(str, more), summary.why)
    return Row(cells, waits=bool(summary.why) or summary.available < summary.replicas)


SETS = KindView(
    SET_KIND,
    ("NAME", "READY", "PODS", "GATED", "UPDATED", "GANGS", "GPUS", "AGE", "TYPE", "REVISION", "WHY"),
    partial(_rows_by_summary, _set_row),
    beside=("PodGang", "Pod"),
    wide=frozenset({"TYPE", "REVISION"}),
)


def _job_row(job: Manifest, summary: SetSummary, now: float) -> Row:
    status, limits = status_of(job), (job.get("spec") or {}).get("trainingSpec") or {}
    phase = "Suspended" if status.get("suspendTime") else str(status.get("phase") or "Pending")
    attempts = [int(replica.get("attempt") or 1) for replica in status.get("trainingReplicas") or []]
    end = deadline(limits, status)
    cells = (
        summary.name,
        phase,
        str(max(attempts, default=0) or ""),
        f"{status.get('restartCount') or 0}/{limits.get('maxRestarts') or 0}",
        f"{summary.ready}/{summary.pods}",
        str(summary.gpus),
        _duration(status, now),
        since(summary.created, now),
        "" if end is None else timestamp(end),
        summary.why,
    )
    return Row(cells, waits=bool(summary.why) or phase in ("Failed", "Suspended"))


def _duration(status: Manifest, now: float) -> str:
    """Returns for how long a workload has run, or ran."""
    end = time(status.get("completionTime") or None)
    return since(time(status.get("startTime") or None), now if end is None else end)


JOBS = KindView(
    SET_KIND,
    ("NAME", "STATUS", "ATTEMPT", "RESTARTS", "PODS", "GPUS", "DURATION", "AGE", "DEADLINE", "WHY"),
    partial(_rows_by_summary, _job_row),
    beside=("PodGang", "Pod"),
    wide=frozenset({"DEADLINE"}),
    matches=is_training,
    mismatch="is not a training workload: its workloadType is not Training",
)


def _gang_rows(found: Found, now: float) -> list[Row]:
    pods = by_label((pod for pod in found.beside["Pod"] if not is_terminating(pod) and not is_finished(pod)), GANG_LABEL)
    return [_gang_row(gang, pods[namespaced_name(gang)], now) for gang in found.objects]


def _gang_row(gang: Manifest, pods: Sequence[Manifest], now: float) -> Row:
    metadata, status = gang["metadata"], status_of(gang)
    labels, groups = labels_of(gang), (gang.get("spec") or {}).get("podgroups") or []
    placed = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName")]
    why = _why(gang) or unplaced(pods)
    cells = (
        metadata["name"],
        str(labels.get(PART_OF) or ""),
        _phase(gang, groups, placed),
        f"{sum(is_true(pod, 'Ready') for pod in pods)}/{len(pods)}",
        str(len(placed)),
        str(sum(int(group.get("minReplicas") or 0) for group in groups)),
        str(sum(map(gpus_of, placed))),
        since(time(metadata.get("creationTimestamp") or None), now),
        str(labels.get(SCHEDULER) or ""),
        str(len({pod["spec"]["nodeName"] for pod in placed})),
        str(status.get("placementScore", "")),
        why,
    )
    return Row(cells, waits=bool(why))


def _phase(gang: Manifest, groups: Sequence[Manifest], placed: Sequence[Manifest]) -> str:
    """Returns the phase that a gang reports; where its scheduler does not report about gangs, that which follows from its pods."""
    phase = str(status_of(gang).get("phase") or "Pending")
    if phase != "Pending" or condition_of(gang, "Scheduled"):
        return phase
    ready = {pod["metadata"]["name"] for pod in placed if is_true(pod, "Ready")}
    for phase, names in (("Running", ready), ("Starting", {pod["metadata"]["name"] for pod in placed})):
        if groups and all(_of_group(group, names) >= int(group.get("minReplicas") or 0) for group in groups):
            return phase
    return "Pending"


def _of_group(group: Manifest, names: Collection[str]) -> int:
    return sum(reference.get("name") in names for reference in group.get("podReferences") or [])


def _why(gang: Manifest) -> str:
    """Returns why a gang is not scheduled or not healthy, or that it is terminating; empty if no condition says so."""
    if deletion := deletion_of(gang):
        return deletion
    for condition_type, wrong in (("Scheduled", "False"), ("Unhealthy", "True")):
        condition = condition_of(gang, condition_type)
        if condition.get("status") == wrong:
            return f"{condition.get('reason')}: {condition.get('message') or ''}".rstrip(": ")
    return ""


GANGS = KindView(
    "PodGang",
    ("NAME", "SET", "PHASE", "READY", "SCHEDULED", "NEEDED", "GPUS", "AGE", "SCHEDULER", "NODES", "SCORE", "WHY"),
    _gang_rows,
    beside=("Pod",),
    wide=frozenset({"SCHEDULER", "NODES", "SCORE"}),
)


def _pod_rows(found: Found, now: float) -> list[Row]:
    return [_pod_row(pod, now) for pod in found.objects]


def _pod_row(pod: Manifest, now: float) -> Row:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, status_of(pod)
    ready, containers = containers_ready(pod)
    text = status_text(pod)
    cells = (
        metadata["name"],
        f"{ready}/{containers}",
        text,
        str(restarts(pod)),
        since(time(metadata.get("creationTimestamp") or None), now),
        str(labels_of(pod).get(GANG_LABEL) or ""),
        str(gpus_of(pod)),
        str(status.get("podIP") or "<none>"),
        str(spec.get("nodeName") or "<none>"),
    )
    return Row(cells, waits=text not in FINE or (text == "Running" and ready < containers))


PODS = KindView(
    "Pod",
    ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "GANG", "GPUS", "IP", "NODE"),
    _pod_rows,
    wide=frozenset({"GANG", "GPUS", "IP", "NODE"}),
    labels=CLIQUE_LABEL,  # as the operator finds them: policies set `managed-by` in all pods of a cluster
)
