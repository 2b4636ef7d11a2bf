"""Reads a pod's state: conditions, scheduling gates of others, and containers that do not run."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_of, status_of
from grove_compiler.model.expanded.live_pods import SCHEDULING_GATE, LivePod
from grove_compiler.record import record

ON_THE_WAY = ("", "PodInitializing", "ContainerCreating")
"""Waiting reasons of a normal start, which do not indicate a problem."""
ORDER_CONTAINER = "grove-initc"


@record
class StuckContainer:
    """A container that does not get to run: it waits, or has failed. `reason` and `message` are the kubelet's."""

    name: str
    reason: str
    message: str
    restarts: int


def pod_condition(pod: LivePod, condition_type: str) -> Manifest:
    """Returns a condition of a pod; empty without one of that type."""
    return condition_of(pod.manifest, condition_type)


def foreign_gates(pod: LivePod) -> list[str]:
    """Returns the scheduling gates of a pod that are not Grove's; whoever has set them removes them."""
    gates = pod.manifest["spec"].get("schedulingGates") or []
    return [str(gate.get("name")) for gate in gates if gate.get("name") != SCHEDULING_GATE]


def is_up_to_scheduler(pod: LivePod) -> bool:
    """Reports whether a pod only waits for its scheduler: it has no node and no gates."""
    return not pod.node_name and not pod.is_finished and not pod.is_gated and not foreign_gates(pod)


def scheduler_has_reported(pod: LivePod) -> bool:
    """Reports whether a scheduler has reported on a pod since its last gate was removed; `SchedulingGated` is from before."""
    reason: str = pod_condition(pod, "PodScheduled").get("reason", "SchedulingGated")
    return reason != "SchedulingGated"


def stuck_containers(pod: LivePod) -> list[StuckContainer]:
    """Returns the containers of a pod that do not get to run, init containers first, without those that are just being created."""
    return [stuck for container in pod.container_statuses if (stuck := _stuck(container)) is not None]


def waits_in_order(pod: LivePod) -> bool:
    """Reports whether the pod's start-up init container still waits for the cliques that start before it."""
    statuses = status_of(pod.manifest).get("initContainerStatuses") or []
    waiting = (container.get("state") or {} for container in statuses if container.get("name") == ORDER_CONTAINER)
    return any(state.get("running") is not None for state in waiting)


def _stuck(status: Manifest) -> StuckContainer | None:
    state = status.get("state") or {}
    waiting, ended = state.get("waiting"), state.get("terminated")
    shown = waiting if waiting is not None else ended if ended is not None and ended.get("exitCode") else None
    if shown is None or (waiting is not None and shown.get("reason", "") in ON_THE_WAY):
        return None
    reason = str(shown.get("reason") or f"ended with exit code {shown.get('exitCode')}")
    return StuckContainer(str(status.get("name")), reason, str(shown.get("message") or ""), int(status.get("restartCount") or 0))
