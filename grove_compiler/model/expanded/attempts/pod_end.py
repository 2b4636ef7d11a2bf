"""Reads and describes how a pod of a training workload ended: when it started, when and why it failed, and who deleted it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_in, is_true_in, status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.inputs.check_run import CHECK_PREFIX
from grove_compiler.record import record

DISRUPTIONS = ("Evicted", "NodeLost", "NodeShutdown", "Preempting", "Terminated")
"""Reasons of failed pods that blame the node and not the program, for pods without the condition `DisruptionTarget`."""
REJECTIONS = ("InvalidNodeInfo", "NodeAffinity", "NodePorts", "TaintToleration", "TopologyAffinityError", "UnexpectedAdmissionError")
"""Reasons with which a kubelet rejects a pod that its scheduler has sent to the node: the program has never run. So does `OutOf` with the
name of a resource, such as OutOfcpu."""
DISRUPTED_BY = ("DisruptionTarget", "TerminationTarget")
"""Conditions of disrupted pods: Kubernetes' own, and Kueue's for pods that it preempts."""
INIT_CONTAINER = "init container "
"""The prefix of an init container's name in failures."""
KUBELETS_REASON = re.compile("(?!Error$)[A-Z][A-Za-z]+")
"""What a kubelet says of a container without last words, such as OOMKilled. "Error" says no more than the exit code."""
MESSAGE_LINES, MESSAGE_LENGTH = 5, 400


@record
class Failure:
    """Why a pod, or a clique, has failed.

    `cause` is one of PodFailed, PodDeleted, PodDisrupted, PodLost, MinAvailableBreached and PodCliqueDeleted; `at` is the time in seconds
    since the epoch, and `started` that when the failed container started; none when unknown.
    """

    cause: str
    pod: str = ""
    container: str = ""
    exit_code: int | None = None
    message: str = ""
    at: float | None = None
    started: float | None = None

    @property
    def is_of_check(self) -> bool:
        """Whether a preflight check of the pod failed."""
        return self.cause == "PodFailed" and self.container.startswith(INIT_CONTAINER + CHECK_PREFIX)

    @property
    def is_disruption(self) -> bool:
        """Whether the cluster disrupted the pod (eviction, preemption, lost node), in contrast to a failed program or a delete."""
        return self.cause == "PodDisrupted"


def failure_of(pod: LivePod) -> Failure:
    """Returns why a pod failed, or who deleted it before it had finished."""
    requested, disruption = _requested(pod), _disruption(pod)
    name, ended = _failed_container(pod)
    end = time(ended.get("finishedAt") or None) or finished_at(pod)
    if pod.phase != "Failed" or (requested is not None and not _ended_first(pod, end, requested)):
        # A pod that is stopped by a delete fails as well, but its exit code is only that of the signal.
        return Failure("PodDisrupted" if disruption else "PodDeleted", pod.name, at=requested, message=disruption)
    message = _last_lines(ended.get("message") or "") or ended.get("reason") or status_of(pod.manifest).get("reason") or ""
    cause, started = "PodDisrupted" if disruption else "PodFailed", time(ended.get("startedAt") or None)
    return Failure(cause, pod.name, name, ended.get("exitCode"), disruption or message, end, started)


def has_finished_well(pod: LivePod) -> bool:
    """Reports whether a pod ran to completion and succeeded. One that stopped because it was deleted has not, whatever its phase."""
    if pod.phase != "Succeeded":
        return False
    requested = _requested(pod)
    return requested is None or _ended_first(pod, finished_at(pod), requested)


def tells_its_end(pod: LivePod) -> bool:
    """Reports whether the state of a pod says why it will be, or is, gone: it has ended, was asked to go, or was disrupted."""
    return pod.is_finished or _requested(pod) is not None or bool(_disruption(pod))


def is_held_up(pod: LivePod) -> bool:
    """Reports whether no container of a pod runs yet: it waits for a node or an image. A pod whose init container runs is not held up."""
    running = any("running" in (container.get("state") or {}) for container in pod.container_statuses)
    return pod.phase == "Pending" and not running


def started_at(pod: LivePod) -> float | None:
    """Returns when the last container of a pod started; none when its status does not tell."""
    states = [state for status in status_of(pod.manifest).get("containerStatuses") or [] for state in (status.get("state") or {}).values()]
    starts = [at for state in states if (at := time((state or {}).get("startedAt") or None)) is not None]
    return pod.since_creation(max(starts)) if starts else None


def finished_at(pod: LivePod) -> float | None:
    """Returns when the last container of a pod ended, sidecars apart; none when its status does not tell."""
    ends = [end for _, ended in _endings(pod) if (end := time(ended.get("finishedAt") or None)) is not None]
    return pod.since_creation(max(ends)) if ends else None


def _requested(pod: LivePod) -> float | None:
    """Returns when a pod's deletion was requested; none while it is not.

    `deletionTimestamp` is when it is due, after the grace period.
    """
    metadata = pod.manifest["metadata"]
    due = time(metadata.get("deletionTimestamp") or None)
    return None if due is None else due - (metadata.get("deletionGracePeriodSeconds") or 0)


def _ended_first(pod: LivePod, end: float | None, requested: float) -> bool:
    """Reports whether a pod had ended when its deletion was requested. Times are whole seconds, in which a program may heed SIGTERM.

    An API server gives no grace period to a pod that has finished.
    """
    has_grace = bool(pod.manifest["metadata"].get("deletionGracePeriodSeconds"))
    return end is not None and (end < requested or (end == requested and not has_grace))


def _disruption(pod: LivePod) -> str:
    """Returns the reason of a pod's disruption, in the words of its conditions or status; empty when it was not disrupted."""
    status = status_of(pod.manifest)
    for condition_type in DISRUPTED_BY:
        if is_true_in(status, condition_type):
            return str(condition_in(status, condition_type).get("reason") or condition_type)
    reason = str(status.get("reason") or "")
    is_of_node = reason in (*DISRUPTIONS, *REJECTIONS) or reason.startswith("OutOf")
    return reason if pod.phase == "Failed" and is_of_node else ""


def _failed_container(pod: LivePod) -> tuple[str, Manifest]:
    """Returns the container that failed first, with its `terminated` state; an init container's name has the prefix `INIT_CONTAINER`."""
    failed = [(name, ended) for name, ended in _endings(pod) if ended.get("exitCode")]
    return min(failed, key=lambda entry: str(entry[1].get("finishedAt") or ""), default=("", {}))


def _endings(pod: LivePod) -> Iterator[tuple[str, Manifest]]:
    """Yields the containers that have ended, with their states, but for sidecars.

    The kubelet stops these when all others have ended. Whatever they exit with, and however late, decides nothing about the pod.
    """
    status, sidecars = status_of(pod.manifest), _sidecars(pod)
    for kind, key in ((INIT_CONTAINER, "initContainerStatuses"), ("", "containerStatuses")):
        for one in status.get(key) or []:
            is_sidecar = kind == INIT_CONTAINER and one.get("name") in sidecars
            if (ended := (one.get("state") or {}).get("terminated")) and not is_sidecar:
                yield f"{kind}{one.get('name') or ''}", ended


def _sidecars(pod: LivePod) -> set[str]:
    containers = pod.manifest["spec"].get("initContainers") or []
    return {str(one.get("name") or "") for one in containers if one.get("restartPolicy") == "Always"}


def _last_lines(message: str) -> str:
    return "\n".join(message.strip().splitlines()[-MESSAGE_LINES:])[-MESSAGE_LENGTH:]


def failure_description(clique: str, report: Manifest) -> str:
    """Returns a short description of a PodClique's failure, from its `report` (the `failure` field of its status)."""
    cause, pod, message = report.get("cause"), report.get("pod") or clique, report.get("message")
    if cause == "PodFailed":
        container = f", {_named(report['container'])}," if report.get("container") else ""
        code = f" exited with {report['exitCode']}" if report.get("exitCode") is not None else " failed"
        reason = f" ({message})" if message and KUBELETS_REASON.fullmatch(message) else ""
        return f"pod {pod}{container}{code}{reason}"
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
