"""Kueue's plain pod groups as they are seen from a job: a webhook, a controller that admits and evicts, and finalizers on pods.

Played after Kueue's own words (KEP 976, issues 12656 and 15424): it counts a pod until it has failed, deletes what comes on top of a
group's total, and lets pods go when their group has ended.
"""

from __future__ import annotations

from collections import defaultdict

from applier.ref import Manifest, Ref
from grove_compiler.model.inputs.snapshot import is_finished
from kube_objects.manifest import is_terminating
from tests.simulation.labels import label
from tests.simulation.simulation import Simulation
from tests.simulation.world import POD

QUEUE = "kueue.x-k8s.io/queue-name"
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
RETRIABLE = "kueue.x-k8s.io/retriable-in-group"
GATE = {"name": "kueue.x-k8s.io/admission"}
FINALIZER = "kueue.x-k8s.io/managed"


class Kueue:
    """A queue that is open or not. `excess` are the pods that it has deleted because their group was full."""

    def __init__(self, simulation: Simulation, *, is_open: bool = True) -> None:
        self.simulation, self.is_open = simulation, is_open
        self.excess: list[str] = []
        simulation.world.cluster.admit = self._admit

    def settle(self) -> None:
        """Lets all go on, the queue among it, until nothing happens any more."""
        before = -1
        while before != self.simulation.world.version:
            before = self.simulation.world.version
            self.simulation.settle()
            self._work()

    def evict(self, group: str) -> None:
        """Gives the place of a group to others."""
        for pod in self.groups()[group]:
            stopped = {"type": "TerminationTarget", "status": "True", "reason": "WorkloadEvictedDueToPreempted"}
            self.simulation.world.report(pod, conditions=[*pod["status"]["conditions"], stopped])
            self.simulation.world.delete(POD, pod["metadata"]["name"])

    def groups(self) -> dict[str, list[Manifest]]:
        """The pods that there are by group, also those that only its finalizer keeps."""
        found: dict[str, list[Manifest]] = defaultdict(list)
        for pod in self.simulation.world.all(POD):
            found[label(pod, GROUP)].append(pod)
        return found

    def _admit(self, new: Manifest) -> Manifest:
        if new["kind"] == "Pod" and "uid" not in new["metadata"] and label(new, QUEUE):
            gates = [*new["spec"].get("schedulingGates", []), GATE]
            return {**new, "metadata": {**new["metadata"], "finalizers": [FINALIZER]}, "spec": {**new["spec"], "schedulingGates": gates}}
        return new

    def _work(self) -> None:
        for pod in self.simulation.world.all(POD):
            if is_terminating(pod) and pod["spec"].get("nodeName") and not is_finished(pod):
                self.simulation.world.report(pod, phase="Failed")  # its node has stopped it, and keeps what has a finalizer
        for pods in self.groups().values():
            self._work_on(pods)

    def _work_on(self, pods: list[Manifest]) -> None:
        total = int(pods[0]["metadata"]["annotations"][TOTAL])
        active = [pod for pod in pods if _is_active(pod)]
        for pod in sorted(active, key=lambda one: str(one["metadata"]["uid"]))[total:]:
            self.excess.append(pod["metadata"]["name"])
            self.simulation.world.delete(POD, pod["metadata"]["name"])
        if len(active) == total and self.is_open:
            for pod in active:
                self._change(pod, spec={"schedulingGates": [one for one in pod["spec"].get("schedulingGates", []) if one != GATE]})
        is_tried_again = all(pod["metadata"]["annotations"].get(RETRIABLE) != "false" for pod in pods)
        if all(map(is_finished, pods)) and (not is_tried_again or sum(pod["status"]["phase"] == "Succeeded" for pod in pods) == total):
            for pod in pods:
                self._change(pod, metadata={"finalizers": []})

    def _change(self, pod: Manifest, **parts: Manifest) -> None:
        now = self.simulation.world.get(POD, pod["metadata"]["name"])
        new = {**now, **{key: {**now[key], **part} for key, part in parts.items()}}
        if new != now:
            self.simulation.world.put(new)
            if is_terminating(new) and not new["metadata"].get("finalizers"):
                self.simulation.world.cluster.garbage.finish(Ref.of(new), new["metadata"]["deletionTimestamp"])


def _is_active(pod: Manifest) -> bool:
    """Whether Kueue counts a pod: unless it has failed, or goes and never had a node."""
    phase = pod.get("status", {}).get("phase")
    return phase != "Failed" and not (is_terminating(pod) and not pod["spec"].get("nodeName"))
