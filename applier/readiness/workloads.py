"""When workloads are ready: their replicas are there, of the latest revision, and available."""

from __future__ import annotations

from applier.readiness.state import Condition, Readiness, conditions, failed, in_progress, number, part, ready
from applier.ref import Manifest


def deployment(manifest: Manifest) -> Readiness:
    """Judges as kstatus; the conditions' own messages say why replicas are missing."""
    by_type, status = conditions(manifest), part(manifest, "status")
    progressing = by_type.get("Progressing")
    if progressing and progressing.reason == "ProgressDeadlineExceeded":
        return failed(_why("progress deadline exceeded", progressing, by_type.get("ReplicaFailure")))
    spec = part(manifest, "spec")
    wanted, updated = number(spec, "replicas", 1), number(status, "updatedReplicas")
    if short := _short("updated", updated, wanted):
        return in_progress(_why(short + ("; paused" if spec.get("paused") else ""), by_type.get("ReplicaFailure")))
    if extra := number(status, "replicas") - updated:
        return in_progress(f"{extra} old {_replicas(extra)} still there")
    if short := _short("available", number(status, "availableReplicas"), wanted):
        return in_progress(_why(short, by_type.get("ReplicaFailure")))
    if (available := by_type.get("Available")) and available.status != "True":
        return in_progress(available.text())
    if available is None and wanted:
        return in_progress("condition Available is missing")
    return ready(f"{wanted} {_replicas(wanted)} available")


def replica_set(manifest: Manifest) -> Readiness:
    """Judges replica sets and replication controllers."""
    status, wanted = part(manifest, "status"), number(part(manifest, "spec"), "replicas", 1)
    failure = conditions(manifest).get("ReplicaFailure")
    if (extra := number(status, "replicas") - wanted) > 0:
        return in_progress(f"{extra} {_replicas(extra)} too many")
    if short := _short("available", number(status, "availableReplicas"), wanted):
        return in_progress(_why(short, failure))
    return ready(f"{wanted} {_replicas(wanted)} available")


def stateful_set(manifest: Manifest) -> Readiness:
    """Judges as kstatus: with OnDelete only people update pods; with a partition only those from it on are updated."""
    spec, status = part(manifest, "spec"), part(manifest, "status")
    wanted = number(spec, "replicas", 1)
    strategy = spec.get("updateStrategy") or {}
    if short := _short("ready", number(status, "readyReplicas"), wanted):
        return in_progress(short)
    if (extra := number(status, "replicas") - wanted) > 0:
        return in_progress(f"{extra} {_replicas(extra)} too many")
    if strategy.get("type") == "OnDelete":
        return ready(f"{wanted} {_replicas(wanted)} ready; updated only when deleted")
    partition = number(strategy.get("rollingUpdate") or {}, "partition")
    same = status.get("currentRevision") == status.get("updateRevision")
    if not same and (short := _short("updated", number(status, "updatedReplicas"), max(wanted - partition, 0))):
        return in_progress(short)
    if not same and not partition:
        return in_progress("the new revision is not the current one yet")
    return ready(f"{wanted} {_replicas(wanted)} ready")


def daemon_set(manifest: Manifest) -> Readiness:
    """Judges as kstatus: how many are wanted is what the controller found, so it must have looked."""
    spec, status = part(manifest, "spec"), part(manifest, "status")
    if "observedGeneration" not in status:
        return in_progress("not seen by its controller yet")
    wanted = number(status, "desiredNumberScheduled")
    on_delete = (spec.get("updateStrategy") or {}).get("type") == "OnDelete"
    counts = [("scheduled", "currentNumberScheduled"), ("updated", "updatedNumberScheduled"), ("available", "numberAvailable")]
    for word, name in counts:
        if (short := _short(word, number(status, name), wanted)) and not (on_delete and word == "updated"):
            return in_progress(short)
    return ready(f"{wanted} {_replicas(wanted)} available")


def job(manifest: Manifest) -> Readiness:
    """Judges a job: ready when it is complete, failed for good when it failed; one that is suspended will not begin by itself.

    kstatus takes one that has started for done. But who waits for a migration before the next step means its end, as Helm's hooks do.
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


def _short(word: str, have: int, wanted: int) -> str:
    """Returns `1 of 3 replicas available`; empty when there are enough."""
    return "" if have >= wanted else f"{have} of {wanted} {_replicas(wanted)} {word}"


def _replicas(count: int) -> str:
    return "replica" if count == 1 else "replicas"


def _why(what: str, *causes: Condition | None) -> str:
    """Returns what is missing, with the messages of the conditions that say why."""
    return "; ".join([what, *(cause.text() for cause in causes if cause and (cause.message or cause.reason))])
