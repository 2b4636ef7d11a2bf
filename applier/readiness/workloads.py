"""Computes the readiness of workloads: all replicas exist, have the latest revision, and are available."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from applier.readiness.state import ObservedCondition, Readiness, conditions, failed, in_progress, number, one_line, part, ready
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


def deployment(manifest: Manifest) -> Readiness:
    """Checks a Deployment as kstatus does; the messages of its conditions explain missing replicas."""
    by_type, status = conditions(manifest), part(manifest, "status")
    progressing = by_type.get("Progressing")
    if progressing and progressing.reason == "ProgressDeadlineExceeded":
        return failed(_why("progress deadline exceeded", progressing, by_type.get("ReplicaFailure")))
    spec = part(manifest, "spec")
    desired, updated = number(spec, "replicas", 1), number(status, "updatedReplicas")
    if short := _short("updated", updated, desired):
        return in_progress(_why(short + ("; paused" if spec.get("paused") else ""), by_type.get("ReplicaFailure")))
    if extra := number(status, "replicas") - updated:
        return in_progress(f"{extra} old {_replicas(extra)} still there")
    if short := _short("available", number(status, "availableReplicas"), desired):
        return in_progress(_why(short, by_type.get("ReplicaFailure")))
    if (available := by_type.get("Available")) and available.status != "True":
        return in_progress(available.text())
    if available is None and desired:
        return in_progress("condition Available is missing")
    return ready(f"{desired} {_replicas(desired)} available")


def replica_set(manifest: Manifest) -> Readiness:
    """Checks a ReplicaSet or ReplicationController."""
    status, desired = part(manifest, "status"), number(part(manifest, "spec"), "replicas", 1)
    failure = conditions(manifest).get("ReplicaFailure")
    if (extra := number(status, "replicas") - desired) > 0:
        return in_progress(f"{extra} {_replicas(extra)} too many")
    if short := _short("available", number(status, "availableReplicas"), desired):
        return in_progress(_why(short, failure))
    return ready(f"{desired} {_replicas(desired)} available")


def stateful_set(manifest: Manifest) -> Readiness:
    """Checks a StatefulSet as kstatus does: with OnDelete, or below the partition, pods of an older revision are fine."""
    spec, status = part(manifest, "spec"), part(manifest, "status")
    desired = number(spec, "replicas", 1)
    strategy = spec.get("updateStrategy") or {}
    if short := _short("ready", number(status, "readyReplicas"), desired):
        return in_progress(short)
    if (extra := number(status, "replicas") - desired) > 0:
        return in_progress(f"{extra} {_replicas(extra)} too many")
    if strategy.get("type") == "OnDelete":
        return ready(f"{desired} {_replicas(desired)} ready; updated only when deleted")
    partition = number(strategy.get("rollingUpdate") or {}, "partition")
    same = status.get("currentRevision") == status.get("updateRevision")
    if not same and (short := _short("updated", number(status, "updatedReplicas"), max(desired - partition, 0))):
        return in_progress(short)
    if not same and not partition:
        return in_progress("the new revision is not current yet")
    return ready(f"{desired} {_replicas(desired)} ready")


def daemon_set(manifest: Manifest) -> Readiness:
    """Checks a DaemonSet as kstatus does; the desired number is in the status, so the controller must have observed it."""
    spec, status = part(manifest, "spec"), part(manifest, "status")
    if "observedGeneration" not in status:
        return in_progress("not observed by its controller yet")
    desired = number(status, "desiredNumberScheduled")
    on_delete = (spec.get("updateStrategy") or {}).get("type") == "OnDelete"
    counts = [("scheduled", "currentNumberScheduled"), ("updated", "updatedNumberScheduled"), ("available", "numberAvailable")]
    for word, name in counts:
        if (short := _short(word, number(status, name), desired)) and not (on_delete and word == "updated"):
            return in_progress(short)
    return ready(f"{desired} {_replicas(desired)} available")


def job(manifest: Manifest) -> Readiness:
    """Checks a Job: it is ready when complete or suspended, and has failed for good when it failed.

    kstatus counts a started Job as ready. But waiting for a migration before the next step means waiting for its end, as Helm's hooks do.
    """
    by_type, status, spec = conditions(manifest), part(manifest, "status"), part(manifest, "spec")
    for kind in ("Failed", "FailureTarget"):
        if (failure := by_type.get(kind)) and failure.status == "True":
            return failed(failure.text())
    if (complete := by_type.get("Complete")) and complete.status == "True":
        return ready(f"complete, {number(status, 'succeeded')} succeeded")
    if spec.get("suspend"):
        return ready("suspended")
    if not status.get("startTime"):
        return in_progress("not started")
    return in_progress(
        f"running, {number(status, 'active')} active, {number(status, 'succeeded')} succeeded, {number(status, 'failed')} failed"
    )


def _short(word: str, have: int, desired: int) -> str:
    """Returns `1 of 3 replicas available`; empty when there are enough."""
    return "" if have >= desired else f"{have} of {desired} {_replicas(desired)} {word}"


def _replicas(count: int) -> str:
    return "replica" if count == 1 else "replicas"


def _why(what: str, *causes: ObservedCondition | None) -> str:
    """Returns what is missing, with the messages of the conditions that explain it."""
    return "; ".join([what, *(cause.text() for cause in causes if cause and (cause.message or cause.reason))])
