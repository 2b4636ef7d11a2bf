"""Summarises the status of live objects: counts, phases, gates, nodes, reasons of waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.ref import Manifest
from grove_cli.queries.pod_columns import restarts
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time, timestamp
from kube_objects.manifest import mapping

Facts = Iterator[str]


def facts(manifest: Manifest) -> list[str]:
    """Returns the facts of an object; none for kinds that are summarised by their readiness only."""
    summarise = _BY_KIND.get(str(manifest.get("kind")))
    found = [] if summarise is None else list(summarise(mapping(manifest.get("spec")), mapping(manifest.get("status"))))
    if deletion := deletion_of(manifest):
        found.append(deletion)
    return found


def deletion_of(manifest: Manifest) -> str:
    """Returns that an object is being deleted, and which finalizers it has; empty for an object that is not being deleted."""
    metadata = mapping(manifest.get("metadata"))
    held = ", ".join(map(str, metadata.get("finalizers") or []))
    return ("being deleted" + (f", held by {held}" if held else "")) if metadata.get("deletionTimestamp") else ""


def gates_of(manifest: Manifest) -> list[str]:
    """Returns the scheduling gates of a pod."""
    spec = mapping(manifest.get("spec"))
    return [str(mapping(gate).get("name")) for gate in spec.get("schedulingGates") or []] if manifest.get("kind") == "Pod" else []


def _pod(spec: Manifest, status: Manifest) -> Facts:
    yield str(status.get("phase") or "no phase yet")
    if gates := gates_of({"kind": "Pod", "spec": spec}):
        yield f"gated by {', '.join(gates)}"
    elif spec.get("nodeName"):
        yield f"on {spec['nodeName']}"
    else:
        yield from _conditions(status, "PodScheduled", wrong="False")
    yield from dict.fromkeys(_stuck(status))
    if count := restarts({"spec": spec, "status": status}):
        yield f"{count} restart{'s' if count > 1 else ''}"


def _stuck(status: Manifest) -> Facts:
    """Yields why containers wait or ended, as in kubectl's STATUS column."""
    for container in (*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])):
        state = mapping(mapping(container).get("state"))
        waiting, ended = mapping(state.get("waiting")), mapping(state.get("terminated"))
        if waiting.get("reason"):
            yield str(waiting["reason"])
        elif ended.get("reason") and ended["reason"] != "Completed":
            yield str(ended["reason"])


def _clique(spec: Manifest, status: Manifest) -> Facts:
    replicas = spec.get("replicas") or 0
    yield f"{status.get('readyReplicas') or 0}/{replicas} ready"
    if spec.get("minAvailable") not in (None, replicas):
        yield f"{spec['minAvailable']} needed"
    for key, word in (("scheduledReplicas", "scheduled"), ("scheduleGatedReplicas", "gated")):
        count = status.get(key) or 0
        if count and count != replicas:
            yield f"{count} {word}"
    yield from _conditions(status, "MinAvailableBreached", wrong="True")
    yield from _errors(status)


def _scaling_group(spec: Manifest, status: Manifest) -> Facts:
    yield f"{status.get('availableReplicas') or 0}/{spec.get('replicas') or 0} available"
    scheduled = status.get("scheduledReplicas") or 0
    if scheduled != (status.get("availableReplicas") or 0):
        yield f"{scheduled} scheduled"
    yield from _conditions(status, "MinAvailableBreached", wrong="True")
    yield from _errors(status)


def _set(spec: Manifest, status: Manifest) -> Facts:
    yield f"{status.get('availableReplicas') or 0}/{spec.get('replicas', 1) or 0} available"
    if status.get("phase"):
        yield str(status["phase"])
    if spec.get("workloadType") == "Training":
        yield from _job(mapping(spec.get("trainingSpec")), status)
    yield from _errors(status)


def _job(limits: Manifest, status: Manifest) -> Facts:
    """Yields the remaining restarts and time of a training workload, and its attempt."""
    yield from _conditions(status, "Failed", wrong="True")
    attempts = [int(mapping(replica).get("attempt") or 1) for replica in status.get("trainingReplicas") or []]
    if max(attempts, default=1) > 1:
        yield f"attempt {max(attempts)}"
    if limits.get("maxRestarts") or status.get("restartCount"):
        yield f"{status.get('restartCount') or 0} of {limits.get('maxRestarts') or 0} restarts spent"
    end = deadline(limits, status)
    if end is not None:
        yield f"until {timestamp(end)}"


def deadline(limits: Manifest, status: Manifest) -> float | None:
    """Returns the deadline of a job; none before its start, without a limit, while it is suspended, and after its end."""
    limit, start = limits.get("maxRuntime"), time(status.get("startTime") or None)
    if not limit or start is None or status.get("suspendTime") or status.get("completionTime"):
        return None
    return start + seconds(limit) + (status.get("suspendedSeconds") or 0)


def _gang(spec: Manifest, status: Manifest) -> Facts:
    yield str(status.get("phase") or "no phase yet")
    groups = map(mapping, spec.get("podgroups") or [])
    waiting = [group for group in groups if len(group.get("podReferences") or []) < (group.get("minReplicas") or 0)]
    if waiting:
        yield f"waits for pods of {', '.join(str(group.get('name')) for group in waiting[:3])}"
    for kind in ("Scheduled", "Ready"):
        yield from _conditions(status, kind, wrong="False")
    yield from _conditions(status, "Unhealthy", wrong="True")


def metrics_failure(status: Manifest) -> str:
    """Returns why an autoscaler with this status does not scale; empty while it does, and where its target is scaled to zero."""
    return next((reason for reason in _conditions(status, "ScalingActive", wrong="False") if reason != "ScalingDisabled"), "")


def _autoscaler(spec: Manifest, status: Manifest) -> Facts:
    unknown = metrics_failure(status)
    wanted = f"wanted unknown ({unknown})" if unknown else f"{status.get('desiredReplicas') or 0} wanted"
    yield f"{status.get('currentReplicas') or 0} now, {wanted}, at most {spec.get('maxReplicas')}"
    yield from _conditions(status, "AbleToScale", wrong="False")


def _claim(_: Manifest, status: Manifest) -> Facts:
    yield str(status.get("phase") or "Pending")


def _conditions(status: Manifest, condition_type: str, *, wrong: str) -> Facts:
    """Yields the reason of a condition with the status `wrong`."""
    for condition in status.get("conditions") or []:
        if mapping(condition).get("type") == condition_type and condition.get("status") == wrong and condition.get("reason"):
            yield f"{condition['reason']}"


def _errors(status: Manifest) -> Facts:
    for error in (status.get("lastErrors") or [])[:1]:
        yield f"last error {mapping(error).get('code') or ''}".rstrip()


_BY_KIND: dict[str, Callable[[Manifest, Manifest], Facts]] = {
    "Pod": _pod,
    "PodClique": _clique,
    "PodCliqueScalingGroup": _scaling_group,
    "PodCliqueSet": _set,
    "PodGang": _gang,
    "HorizontalPodAutoscaler": _autoscaler,
    "PersistentVolumeClaim": _claim,
}
