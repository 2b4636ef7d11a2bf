"""Scheduler, nodes and garbage collector of a simulation, as an operator sees them: pods get a node, run, are ready, fail, and end."""

from __future__ import annotations

from dataclasses import dataclass, field

from applier.ref import Kind, Manifest
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.model.inputs.snapshot import is_finished
from kube_objects.manifest import is_terminating, section
from tests.simulation.sets import replicas
from tests.simulation.world import POD, World

BROKEN = "broken"
"""A pod whose first container has an image with this word in it never becomes ready."""
NOWHERE = "nowhere"
"""A pod whose first container has an image with this word in it fits no node, as with a selector that matches none."""


@dataclass(eq=False)
class Machines:
    """Moves every pod one stage on at each `tick`.

    There is room for so many pods at a time; one that has finished needs none. Nodes that are `cordoned` take no more. Those whose UIDs are
    among the `failing` are not ready for as long, and nobody tells of the `lost` that they have ended. Autoscalers put back the numbers of
    replicas that they have `wanted`.
    """

    world: World
    room: int = 1000
    cordoned: bool = False
    failing: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    wanted: dict[tuple[Kind, str], int] = field(default_factory=dict)

    def tick(self) -> bool:
        """Moves all pods on, and says whether any did."""
        before = self.world.version
        self.world.collect_garbage()
        for pod in self.world.all(POD):
            if is_terminating(pod) and pod["metadata"]["uid"] not in self.lost:
                self.world.end(pod)
        for pod in self.world.all(POD):
            if not is_terminating(pod):
                self._move(pod)
        for (kind, name), number in self.wanted.items():
            target = self.world.find(kind, name)
            if target is not None and not is_terminating(target) and target["spec"]["replicas"] != number:
                self.world.change(kind, name, replicas(number))
        return self.world.version != before

    def fail(self, prefix: str) -> None:
        """The pods whose names begin so are not ready any more, and do not recover."""
        self.failing |= {pod["metadata"]["uid"] for pod in self.world.pods(prefix)}

    def exit(self, pod: Manifest, code: int = 0, message: str = "") -> None:
        """The first container of a pod ends, and the pod with it, if it runs."""
        if pod.get("status", {}).get("phase") == "Running":
            times = {"startedAt": self._started(pod), "finishedAt": timestamp(self.world.now)}
            ended = {"exitCode": code, **times, **({"message": message} if message else {})}
            containers = [{"name": pod["spec"]["containers"][0]["name"], "state": {"terminated": ended}}]
            conditions = [one for one in pod["status"]["conditions"] if one["type"] != "Ready"]
            self.world.report(pod, phase="Failed" if code else "Succeeded", conditions=conditions, containerStatuses=containers)

    def _move(self, pod: Manifest) -> None:
        spec, status = pod["spec"], pod.get("status", {})
        if is_finished(pod):
            return
        if spec.get("schedulingGates"):
            self._say(pod, "Pending", scheduled="SchedulingGated")
        elif not spec.get("nodeName"):
            if NOWHERE in spec["containers"][0]["image"] or self.cordoned or self._taken() >= self.room:
                self._say(pod, "Pending", scheduled="Unschedulable")
            else:
                self._say({**pod, "spec": {**spec, "nodeName": "node"}}, "Pending")
        elif status.get("phase") != "Running":
            self._say(pod, "Running", started=True)
        else:
            is_broken = BROKEN in spec["containers"][0]["image"] or pod["metadata"]["uid"] in self.failing
            self._say(pod, "Running", started=True, ready=not is_broken)

    def _taken(self) -> int:
        return sum("nodeName" in one["spec"] and not is_finished(one) for one in self.world.all(POD))

    def _say(self, pod: Manifest, phase: str, *, scheduled: str = "", started: bool = False, ready: bool = False) -> None:
        is_placed = "False" if scheduled else "True"
        placed = {"status": is_placed, "lastTransitionTime": self._placed(pod, is_placed)}
        conditions = [
            {"type": "PodScheduled", **placed, **({"reason": scheduled} if scheduled else {})},
            {"type": "Ready", "status": str(ready)},
        ]
        running = {"started": True, "ready": ready, "state": {"running": {"startedAt": self._started(pod)}}} if started else {}
        containers = [{"name": one["name"], **running} for one in pod["spec"]["containers"]] if started else []
        status = {"phase": phase, "conditions": conditions, "containerStatuses": containers}
        if pod.get("status") != status:
            self.world.report(pod, **status)

    def _placed(self, pod: Manifest, status: str) -> str:
        """Since when the condition PodScheduled has a status: from now on, where it had another one."""
        conditions = pod.get("status", {}).get("conditions") or []
        since = (one.get("lastTransitionTime") for one in conditions if (one["type"], one["status"]) == ("PodScheduled", status))
        return str(next(since, None) or timestamp(self.world.now))

    def _started(self, pod: Manifest) -> str:
        """Since when the containers of a pod run: from now on, for one that did not."""
        containers = pod.get("status", {}).get("containerStatuses") or [{}]
        return str(section(containers[0], "state", "running").get("startedAt") or timestamp(self.world.now))
