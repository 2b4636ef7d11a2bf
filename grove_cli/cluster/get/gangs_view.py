"""Lists PodGangs: phase, ready, scheduled and required pods, GPUs in use, and what a gang waits for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.cluster.get.table import KindView, Row
from grove_cli.queries.facts import deletion_of
from grove_cli.queries.list_query import Found
from grove_cli.queries.sets_query import gpus_of
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import GANG_LABEL, PART_OF
from grove_compiler.model.inputs.snapshot import is_finished
from kube_objects.manifest import is_terminating

SCHEDULER = "grove.io/scheduler-name"


def _rows(found: Found, now: float) -> list[Row]:
    pods: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for pod in found.beside["Pod"]:
        if not is_terminating(pod) and not is_finished(pod):
            pods[pod["metadata"].get("namespace") or "", (pod["metadata"].get("labels") or {}).get(GANG_LABEL) or ""].append(pod)
    return [_row(gang, pods[gang["metadata"].get("namespace") or "", gang["metadata"]["name"]], now) for gang in found.objects]


def _row(gang: Manifest, pods: Sequence[Manifest], now: float) -> Row:
    metadata, status = gang["metadata"], status_of(gang)
    labels, groups = metadata.get("labels") or {}, (gang.get("spec") or {}).get("podgroups") or []
    placed = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName")]
    why = _why(gang) or _unplaced(pods)
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


def _unplaced(pods: Sequence[Manifest]) -> str:
    """Returns which pod the scheduler cannot place and why, and how many others; empty if none. Few schedulers report that of a gang."""
    conditions = {pod["metadata"]["name"]: condition_of(pod, "PodScheduled") for pod in pods}
    found = sorted(name for name, condition in conditions.items() if condition.get("reason") == "Unschedulable")
    if not found:
        return ""
    message = f"Unschedulable: Pod {found[0]}: {conditions[found[0]].get('message') or ''}".rstrip(": ")
    return f"{message} (and {len(found) - 1} more)" if found[1:] else message


VIEW = KindView(
    "PodGang",
    ("NAME", "SET", "PHASE", "READY", "SCHEDULED", "NEEDED", "GPUS", "AGE", "SCHEDULER", "NODES", "SCORE", "WHY"),
    _rows,
    beside=("Pod",),
    wide=frozenset({"SCHEDULER", "NODES", "SCORE"}),
)
