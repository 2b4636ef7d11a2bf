"""Returns of a pod what kubectl's columns READY, STATUS and RESTARTS show."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from kube_objects.manifest import is_terminating, mapping, maps


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
    ready = sum(bool(each.get("ready")) for each in maps(status.get("containerStatuses")))
    ready += sum(bool(each.get("ready")) for each in maps(status.get("initContainerStatuses")) if each.get("name") in sidecars)
    return ready, len(spec.get("containers") or []) + len(sidecars)


def restarts(pod: Manifest) -> int:
    """Returns how often containers were restarted; of init containers that are done sidecars alone count."""
    status, sidecars = status_of(pod), _sidecars(pod)
    init, is_done = maps(status.get("initContainerStatuses")), not _of_init(pod)
    counted = [each for each in init if each.get("name") in sidecars] + maps(status.get("containerStatuses")) if is_done else init
    return sum(int(each.get("restartCount") or 0) for each in counted)


def _of_init(pod: Manifest) -> str:
    """Returns what the first init container that is not done does; empty when all are done, and before any has a status."""
    sidecars, containers = _sidecars(pod), maps(mapping(pod.get("spec")).get("initContainers"))
    for number, each in enumerate(maps(status_of(pod).get("initContainerStatuses"))):
        state = mapping(each.get("state"))
        ended, waiting = mapping(state.get("terminated")), mapping(state.get("waiting")).get("reason")
        if (ended and not ended.get("exitCode")) or (each.get("name") in sidecars and each.get("started")):
            continue
        if ended:
            return f"Init:{_end(ended)}"
        return f"Init:{waiting}" if waiting not in (None, "", "PodInitializing") else f"Init:{number}/{len(containers)}"
    return ""


def _of_containers(pod: Manifest, reason: str) -> str:
    """Returns why a container waits or has ended, of several the first; else the reason of the pod."""
    statuses = maps(status_of(pod).get("containerStatuses"))
    told = [text for each in statuses if (text := _why_not(mapping(each.get("state"))))]
    text = told[0] if told else reason
    runs = any(mapping(each.get("state")).get("running") and each.get("ready") for each in statuses)
    return ("Running" if is_true(pod, "Ready") else "NotReady") if text == "Completed" and runs else text


def _why_not(state: Manifest) -> str:
    waiting, ended = mapping(state.get("waiting")).get("reason"), mapping(state.get("terminated"))
    return str(waiting) if waiting else _end(ended) if ended else ""


def _end(ended: Manifest) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode') or 0}"


def _sidecars(pod: Manifest) -> set[Any]:
    return {each.get("name") for each in maps(mapping(pod.get("spec")).get("initContainers")) if each.get("restartPolicy") == "Always"}
