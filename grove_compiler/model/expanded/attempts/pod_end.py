"""How a pod of a training workload came to its end: when it started, when and why it failed, and who asked it to go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_in, is_true_in, status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.inputs.check_run import PREFIX
from grove_compiler.record import record

DELETION_REASON = "grove.io/deletion-reason"
"""The annotation that says why we delete something; what goes without it was deleted by somebody else."""
DISRUPTIONS = ("Evicted", "NodeLost", "NodeShutdown", "Preempting", "Terminated", "UnexpectedAdmissionError")
"""Reasons of failed pods that say the node, and not the program, was at fault, where no condition `DisruptionTarget` does."""
DISRUPTED_BY = ("DisruptionTarget", "TerminationTarget")
"""Conditions of pods that the cluster takes away: Kubernetes' own, and that of a queue which gives their place to others (Kueue)."""
INIT_CONTAINER = "init container "
"""What stands before the name of one."""
MESSAGE_LINES, MESSAGE_LENGTH = 5, 400


@record
class Failure:
    """Why a pod counts as failed, or a clique without one of its pods.

    `cause` is one of PodFailed, PodDeleted, PodDisrupted, PodLost, MinAvailableBreached and PodCliqueDeleted; `at` is when, in seconds
    since the epoch, none where nobody knows.
    """

    cause: str
    pod: str = ""
    container: str = ""
    exit_code: int | None = None
    message: str = ""
    at: float | None = None

    @property
    def is_of_check(self) -> bool:
        """Whether a preflight check of the pod failed."""
        return self.cause == "PodFailed" and self.container.startswith(INIT_CONTAINER + PREFIX)

    @property
    def is_disruption(self) -> bool:
        """Whether the cluster took the pod away, and not the program, nor somebody who deleted it."""
        return self.cause == "PodDisrupted"


def failure_of(pod: LivePod) -> Failure:
    """Returns how a pod failed, or who took it away before it had finished."""
    asked, disruption = _requested(pod), _disruption(pod)
    name, ended = _failed_container(pod)
    end = time(ended.get("finishedAt") or None) or finished_at(pod)
    if pod.phase != "Failed" or (asked is not None and (end is None or end > asked)):
        # One that stops because it is asked to fails as well, with the exit code of the signal, which tells nobody anything.
        return Failure("PodDisrupted" if disruption else "PodDeleted", pod.name, at=asked, message=disruption)
    message = _last_lines(ended.get("message") or "") or ended.get("reason") or status_of(pod.manifest).get("reason") or ""
    return Failure("PodDisrupted" if disruption else "PodFailed", pod.name, name, ended.get("exitCode"), disruption or message, end)


def is_ours(pod: LivePod) -> bool:
    """Tells whether we have asked a pod to go."""
    return bool((pod.manifest["metadata"].get("annotations") or {}).get(DELETION_REASON))


def has_finished_well(pod: LivePod) -> bool:
    """Tells whether a pod ran to its end and succeeded. One that stopped because it was asked to go has not finished, whatever it says."""
    if pod.phase != "Succeeded":
        return False
    asked, ended = _requested(pod), finished_at(pod)
    return asked is None or (ended is not None and ended <= asked)


def is_held_up(pod: LivePod) -> bool:
    """Tells whether a pod has not come to run anything yet: it waits for a node or an image. One that waits in an init container runs."""
    running = any("running" in (one.get("state") or {}) for one in _containers(pod))
    return pod.phase == "Pending" and not running


def started_at(pod: LivePod) -> float | None:
    """Returns when the last container of a pod started; none where its node does not say."""
    states = [state for one in status_of(pod.manifest).get("containerStatuses") or [] for state in (one.get("state") or {}).values()]
    return max((at for state in states if (at := time((state or {}).get("startedAt") or None)) is not None), default=None)


def finished_at(pod: LivePod) -> float | None:
    """Returns when the last container of a pod ended; none where its node does not say."""
    ends = (time(ended.get("finishedAt") or None) for _, ended in _endings(pod))
    return max((end for end in ends if end is not None), default=None)


def _requested(pod: LivePod) -> float | None:
    """When somebody asked a pod to go; none while nobody has."""
    metadata = pod.manifest["metadata"]
    due = time(metadata.get("deletionTimestamp") or None)
    return None if due is None else due - (metadata.get("deletionGracePeriodSeconds") or 0)


def _disruption(pod: LivePod) -> str:
    """What took a pod away, in the words of whoever did; empty where nothing says so."""
    status = status_of(pod.manifest)
    for type in DISRUPTED_BY:
        if is_true_in(status, type):
            return str(condition_in(status, type).get("reason") or type)
    return str(status["reason"]) if pod.phase == "Failed" and status.get("reason") in DISRUPTIONS else ""


def _failed_container(pod: LivePod) -> tuple[str, Manifest]:
    """The container that failed first, and how it ended; an init container is named as such."""
    failed = [(name, ended) for name, ended in _endings(pod) if ended.get("exitCode")]
    return min(failed, key=lambda one: str(one[1].get("finishedAt") or ""), default=("", {}))


def _endings(pod: LivePod) -> Iterator[tuple[str, Manifest]]:
    status = status_of(pod.manifest)
    for kind, key in ((INIT_CONTAINER, "initContainerStatuses"), ("", "containerStatuses")):
        for one in status.get(key) or []:
            if ended := (one.get("state") or {}).get("terminated"):
                yield f"{kind}{one.get('name') or ''}", ended


def _containers(pod: LivePod) -> list[dict[str, Any]]:
    status = status_of(pod.manifest)
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def _last_lines(message: str) -> str:
    return "\n".join(message.strip().splitlines()[-MESSAGE_LINES:])[-MESSAGE_LENGTH:]
