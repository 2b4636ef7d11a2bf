"""Computes the readiness of a pod, and what prevents it: gates, the scheduler, images, crashes, probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from applier.readiness.state import Readiness, conditions, failed, in_progress, one_line, part, ready
from applier.ref import Manifest


def pod(manifest: Manifest) -> Readiness:
    """Checks a pod as kstatus does, except that phase Failed is a failure, and recoverable states (image, crash) are not final."""
    status = part(manifest, "status")
    match status.get("phase"):
        case "Succeeded":
            return ready("completed")
        case "Failed":
            return failed(_failure(manifest))
        case "Running":
            return _running(manifest)
        case "Pending":
            return _pending(manifest)
        case None | "":
            return in_progress("not processed by the scheduler yet")
        case phase:
            return in_progress(f"phase {phase}")


def gates_of(manifest: Manifest) -> list[str]:
    """Returns the scheduling gates of a pod."""
    return [str(gate.get("name")) for gate in part(manifest, "spec").get("schedulingGates") or ()]


def _pending(manifest: Manifest) -> Readiness:
    if gates := gates_of(manifest):
        return in_progress(f"held by scheduling {'gate' if len(gates) == 1 else 'gates'} {', '.join(gates)}")
    scheduled = conditions(manifest).get("PodScheduled")
    if scheduled and scheduled.status != "True":
        return in_progress(": ".join(text for text in (scheduled.reason or "not scheduled", one_line(scheduled.message)) if text))
    return _by_containers(manifest) or in_progress("containers are being created" if scheduled else "not scheduled")


def _running(manifest: Manifest) -> Readiness:
    condition = conditions(manifest).get("Ready")
    if condition and condition.status == "True":
        return ready("ready")
    return _by_containers(manifest) or in_progress(condition.text() if condition else "condition Ready is missing")


def _by_containers(manifest: Manifest) -> Readiness | None:
    """Returns the state of the first container that waits or has failed; None when there is none."""
    for name, state in _states(manifest):
        waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
        reason, message = waiting.get("reason"), one_line(waiting.get("message") or "")
        if reason and reason not in ("ContainerCreating", "PodInitializing"):
            text = f"container {name}: {reason}" + (f": {message}" if message else "")
            return failed(text, final=False) if reason == "CrashLoopBackOff" else in_progress(text)
        if ended.get("exitCode"):
            return in_progress(f"container {name}: {ended.get('reason') or 'ended'} with exit code {ended['exitCode']}")
    return None


def _failure(manifest: Manifest) -> str:
    status = part(manifest, "status")
    if why := ": ".join(text for text in (status.get("reason"), one_line(status.get("message") or "")) if text):
        return why
    for name, state in _states(manifest):
        ended = state.get("terminated") or {}
        if ended.get("exitCode"):
            return f"container {name}: {ended.get('reason') or 'ended'} with exit code {ended['exitCode']}"
    return "failed"


def _states(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the containers with their states, in the order in which they start."""
    status = part(manifest, "status")
    for field in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(field) or ():
            yield str(container.get("name")), container.get("state") or {}
