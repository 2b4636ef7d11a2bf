"""Summarises the status of live objects: counts, phases, gates, nodes, reasons of waits, and of pods what kubectl's columns show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from applier.ref import Manifest
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time, timestamp
from kube_objects.manifest import is_terminating, mapping

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
    gates = [str(mapping(gate).get("name")) for gate in spec.get("schedulingGates") or []]
    if gates:
        yield f"gated by {', '.join(gates)}"
    elif spec.get("nodeName"):
        yield f"on {spec['nodeName']}"
    else:
        yield from _conditions(status, "PodScheduled", wrong="False")
    yield from dict.fromkeys(_stuck(status))
    restarts = sum(int(mapping(container).get("restartCount") or 0) for container in status.get("containerStatuses") or [])
    if restarts:
        yield f"{restarts} restart{'s' if restarts > 1 else ''}"


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


def status_text(pod: Manifest) -> str:
    """Returns `Running`, `Init:0/1`, `CrashLoopBackOff`, `SchedulingGated`, …"""
    if is_terminating(pod):
        return "Terminating"
    status = status_of(pod)
    gated = condition_of(pod, "PodScheduled").get("reason") == "SchedulingGated"
    reason = str(status.get("reason") or ("SchedulingGated" if gated else status.get("phase") or "Unknown"))
    return _of_init(pod) or _of_containers(pod, reason)


def containers_ready(pod: Manifest) -> tuple[int, int]:
    """Returns how many containers are ready, sidecars included, and how many there are."""
    spec, status = pod.get("spec") or {}, status_of(pod)
    sidecars = _sidecars(pod)
    ready = sum(bool(each.get("ready")) for each in status.get("containerStatuses") or [])
    ready += sum(bool(each.get("ready")) for each in status.get("initContainerStatuses") or [] if each.get("name") in sidecars)
    return ready, len(spec.get("containers") or []) + len(sidecars)


def restarts(pod: Manifest) -> int:
    """Returns how often containers were restarted."""
    status = status_of(pod)
    return sum(
        int(each.get("restartCount") or 0) for each in (*_list(status, "initContainerStatuses"), *_list(status, "containerStatuses"))
    )


def _of_init(pod: Manifest) -> str:
    """Returns what the first init container that is not done does; empty when all are done, and before any has a status."""
    sidecars, containers = _sidecars(pod), _list(pod.get("spec") or {}, "initContainers")
    for number, each in enumerate(_list(status_of(pod), "initContainerStatuses")):
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), (state.get("waiting") or {}).get("reason")
        if (ended and not ended.get("exitCode")) or (each.get("name") in sidecars and each.get("started")):
            continue
        if ended:
            return f"Init:{_end(ended)}"
        return f"Init:{waiting}" if waiting not in (None, "", "PodInitializing") else f"Init:{number}/{len(containers)}"
    return ""


def _of_containers(pod: Manifest, reason: str) -> str:
    """Returns why a container waits or has ended, of several the first; else the reason of the pod."""
    statuses = _list(status_of(pod), "containerStatuses")
    told = [text for each in statuses if (text := _why_not(each.get("state") or {}))]
    text = told[0] if told else reason
    runs = any((each.get("state") or {}).get("running") and each.get("ready") for each in statuses)
    return ("Running" if is_true(pod, "Ready") else "NotReady") if text == "Completed" and runs else text


def _why_not(state: Manifest) -> str:
    waiting, ended = (state.get("waiting") or {}).get("reason"), state.get("terminated")
    return str(waiting) if waiting else _end(ended) if ended else ""


def _end(ended: Manifest) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode') or 0}"


def _sidecars(pod: Manifest) -> set[Any]:
    return {each.get("name") for each in _list(pod.get("spec") or {}, "initContainers") if each.get("restartPolicy") == "Always"}


def _list(value: Manifest, key: str) -> list[Manifest]:
    found: list[Manifest] = value.get(key) or []
    return found
