"""Lists the pods of sets with kubectl's columns, and the gang, GPUs and node of each."""

from __future__ import annotations

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.cluster.get.table import KindView, Row
from grove_cli.queries.list_query import Found
from grove_cli.queries.pod_status import containers_ready, restarts, status_text
from grove_cli.queries.sets_query import gpus_of
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import GANG_LABEL, MANAGED

FINE = ("Running", "Completed")


def _rows(found: Found, now: float) -> list[Row]:
    return [_row(pod, now) for pod in found.objects]


def _row(pod: Manifest, now: float) -> Row:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, status_of(pod)
    ready, containers = containers_ready(pod)
    text = status_text(pod)
    cells = (
        metadata["name"],
        f"{ready}/{containers}",
        text,
        str(restarts(pod)),
        since(time(metadata.get("creationTimestamp") or None), now),
        str((metadata.get("labels") or {}).get(GANG_LABEL) or ""),
        str(gpus_of(pod)),
        str(status.get("podIP") or "<none>"),
        str(spec.get("nodeName") or "<none>"),
    )
    return Row(cells, waits=text not in FINE or (text == "Running" and ready < containers))


VIEW = KindView(
    "Pod",
    ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "GANG", "GPUS", "IP", "NODE"),
    _rows,
    wide=frozenset({"GANG", "GPUS", "IP", "NODE"}),
    labels=MANAGED,
)
