"""Computes the readiness of workloads: all replicas exist, have the latest revision, and are available."""

from __future__ import annotations

from applier.readiness.state import ObservedCondition, Readiness, conditions, failed, in_progress, number, part, ready
from applier.ref import Manifest


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
