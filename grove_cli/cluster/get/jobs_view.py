"""Lists training workloads: phase, attempt, restarts, pods and GPUs in use, and what a workload waits for."""

from __future__ import annotations

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.cluster.get.table import KindView, Row
from grove_cli.queries.facts import deadline
from grove_cli.queries.list_query import Found
from grove_cli.queries.one_set import is_training
from grove_cli.queries.sets_query import SetSummary, summaries
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.timestamp import time, timestamp


def _rows(found: Found, now: float) -> list[Row]:
    jobs = summaries(found.objects, found.beside["PodGang"], found.beside["Pod"])
    return [_row(job, summary, now) for job, summary in zip(found.objects, jobs, strict=True)]


def _row(job: Manifest, summary: SetSummary, now: float) -> Row:
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


VIEW = KindView(
    SET_KIND,
    ("NAME", "STATUS", "ATTEMPT", "RESTARTS", "PODS", "GPUS", "DURATION", "AGE", "DEADLINE", "WHY"),
    _rows,
    beside=("PodGang", "Pod"),
    wide=frozenset({"DEADLINE"}),
    matches=is_training,
    mismatch="is not a training workload: its workloadType is not Training",
)
