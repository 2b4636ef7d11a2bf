"""Describes the reported failure of a training workload's PodClique."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.attempts.pod_end import INIT_CONTAINER


def failure_description(clique: str, report: Manifest) -> str:
    """Returns a short description of a PodClique's failure, from its `report` (the `failure` field of its status)."""
    cause, pod, message = report.get("cause"), report.get("pod") or clique, report.get("message")
    if cause == "PodFailed":
        container = f", {_named(report['container'])}," if report.get("container") else ""
        code = f" exited with {report['exitCode']}" if report.get("exitCode") is not None else " failed"
        return f"pod {pod}{container}{code}"
    description = {
        "PodDeleted": f"pod {pod} was deleted",
        "PodDisrupted": f"pod {pod} was disrupted",
        "PodLost": f"pod {pod} disappeared",
        "MinAvailableBreached": f"PodClique {clique} was below minAvailable for longer than terminationDelay",
        "PodCliqueDeleted": f"PodClique {clique} was deleted",
    }.get(str(cause), f"PodClique {clique} failed")
    return f"{description} ({message})" if message else description


def _named(container: str) -> str:
    return container if container.startswith(INIT_CONTAINER) else f"container {container}"
