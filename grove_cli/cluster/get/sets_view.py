"""Lists PodCliqueSets: ready replicas and pods, gates, updates, GPUs in use, and what a set waits for."""

from __future__ import annotations

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.cluster.get.table import KindView, Row
from grove_cli.queries.list_query import Found
from grove_cli.queries.sets_query import SetSummary, summaries
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import status_of


def _rows(found: Found, now: float) -> list[Row]:
    listed = summaries(found.objects, found.beside["PodGang"], found.beside["Pod"])
    return [_row(pcs, summary, now) for pcs, summary in zip(found.objects, listed, strict=True)]


def _row(pcs: Manifest, summary: SetSummary, now: float) -> Row:
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


VIEW = KindView(
    SET_KIND,
    ("NAME", "READY", "PODS", "GATED", "UPDATED", "GANGS", "GPUS", "AGE", "TYPE", "REVISION", "WHY"),
    _rows,
    beside=("PodGang", "Pod"),
    wide=frozenset({"TYPE", "REVISION"}),
)
