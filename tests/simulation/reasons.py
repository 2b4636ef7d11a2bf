"""Why an operator may delete a pod that is ready (decisions §9): looked for after each of its deletions; anything else is a fault.

It knows nothing of how that is decided: only what there is, what is declared, and what there was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.ref import Kind, Manifest
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from kube_objects.manifest import is_terminating
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, REPLICA_LABEL, label
from tests.simulation.network import NO_LONGER_WANTED
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, SET

ROLLING, TERMINATION = "RollingUpdate", "GangTermination"
ASKED_FOR = ("Restart", "Replacement", "NotKept", "ReplicaDone", "TTLAfterFinished", "Succeeded", "Failed", "Suspended")
"""Reasons of training workloads and of preflight checks, which count restarts of their own."""
DEFAULT_DELAY = "4h"
NEVER_COMPLETE = ("ScaledBelowMinAvailable", "NotAvailableSinceScaledOut")
TOLD_WITHIN = 1.0
"""Seconds in which whoever has decided to scale in may still do so, although more has been declared meanwhile: its requests are sent."""
Serving = Callable[..., dict[str, int]]


class Reasons:
    """What was seen of each part: how many served when an update took the last one, and when fewer were declared than it needs."""

    def __init__(self, simulation: Simulation, serving: Serving) -> None:
        self.simulation, self.serving = simulation, serving
        self.served: dict[str, int] = {}
        self.low: dict[str, float] = {}
        self.are_low = set[str]()

    def look(self) -> None:
        """Notes what is declared and which updates are over."""
        for one in self._parts():
            name = one["metadata"]["name"]
            is_low = one["spec"]["replicas"] < _needed(one)
            if is_low or name in self.are_low:  # it was until now, as nothing was written in between
                self.low[name] = self.simulation.world.now
            (self.are_low.add if is_low else self.are_low.discard)(name)
            if (one.get("status", {}).get("updateProgress") or {}).get("updateEndedAt"):
                self.served.pop(name, None)

    def check(self, pod: Manifest, reason: str) -> None:
        """Raises `AssertionError` where a ready pod was deleted for a reason that does not hold."""
        if reason == ROLLING:
            self._check_roll(pod)
        elif reason == TERMINATION:
            self._check_termination(pod)
        elif reason == NO_LONGER_WANTED:
            self._check_scale_in(pod)
        else:
            assert reason in ASKED_FOR, f"{pod['metadata']['name']} was deleted for {reason!r}"

    def _check_roll(self, pod: Manifest) -> None:
        name = label(pod, GROUP_LABEL) or label(pod, CLIQUE_LABEL)
        part = self._find(GROUP if label(pod, GROUP_LABEL) else CLIQUE, name)
        before, now = self.serving(self.simulation, pod).get(name, 0), self.serving(self.simulation).get(name, 0)
        if part is None or now >= before:
            return
        least = min(self.served.get(name, 0), part["spec"]["replicas"])
        assert before >= least, f"an update takes one of {before} of {name}, of which {least} served when it took the last one"
        self.served[name] = before

    def _check_termination(self, pod: Manifest) -> None:
        set = next(iter(self.simulation.world.all(SET)), None)
        if set is None:
            return
        delay = seconds(set["spec"]["template"].get("terminationDelay") or DEFAULT_DELAY)
        lasted = [self._breached_for(one) for one in self._parts() if label(one, REPLICA_LABEL) == label(pod, REPLICA_LABEL)]
        longest = max((one for one in lasted if one is not None), default=None)
        assert longest is not None, f"{pod['metadata']['name']} was deleted for a breach, and there is none"
        assert longest >= delay, f"{pod['metadata']['name']} was deleted for a breach that had lasted {longest:.0f} s of {delay}"

    def _breached_for(self, part: Manifest) -> float | None:
        """For how many seconds a part has been breached while enough was declared; none where it is not."""
        conditions = part.get("status", {}).get("conditions") or []
        breach = next((one for one in conditions if (one["type"], one["status"]) == ("MinAvailableBreached", "True")), None)
        if breach is None or breach["reason"] in NEVER_COMPLETE or part["spec"]["replicas"] < _needed(part):
            return None
        since = time(breach["lastTransitionTime"]) or 0.0
        return self.simulation.world.now - max(since, self.low.get(part["metadata"]["name"], 0.0))

    def _check_scale_in(self, pod: Manifest) -> None:
        clique = self._find(CLIQUE, label(pod, CLIQUE_LABEL))
        set = next(iter(self.simulation.world.all(SET)), None)
        if clique is None or is_terminating(clique) or set is None or is_terminating(set) or self._goes_with_its_replica(pod, set):
            return
        left = [one for one in self.simulation.world.pods() if label(one, CLIQUE_LABEL) == clique["metadata"]["name"]]
        declared = self._declared(clique)
        assert len(left) >= declared, f"{clique['metadata']['name']} was scaled in to {len(left)} pods, and {declared} are declared"

    def _goes_with_its_replica(self, pod: Manifest, set: Manifest) -> bool:
        """Whether a pod is of a replica of the set, or of a scaling group, that is not declared any more."""
        group, member = self._find(GROUP, label(pod, GROUP_LABEL)), label(pod, MEMBER_LABEL)
        declared = 0 if group is None else (replicas := self._declared(group)) and max(replicas, group["spec"]["minAvailable"])
        return int(label(pod, REPLICA_LABEL)) >= self._declared(set) or (member != "" and int(member) >= declared)

    def _declared(self, one: Manifest) -> int:
        return self.simulation.world.declared(one, TOLD_WITHIN)

    def _parts(self) -> Iterator[Manifest]:
        yield from self.simulation.world.all(CLIQUE)
        yield from self.simulation.world.all(GROUP)

    def _find(self, kind: Kind, name: str) -> Manifest | None:
        return self.simulation.world.find(kind, name)


def _needed(part: Manifest) -> int:
    """How many have to be declared of a part for it to be breached at all; a scaling group above zero keeps what it needs."""
    return int(part["spec"].get("minAvailable") or 0) if part["kind"] == "PodClique" else 1
