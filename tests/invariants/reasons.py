"""Why an operator may delete a pod that is ready (decisions §9): looked for at each of its deletions; anything else is a fault.

It knows nothing of how that is decided: only what there is, what is declared, and what there was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.ref import Kind, Manifest
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import POD_HASH_LABEL
from kube_objects.manifest import is_terminating
from tests.invariants import training
from tests.invariants.by_hand import lacks_what_people_bring
from tests.invariants.cluster_state import ClusterState
from tests.invariants.serving import at_a_time, needs, owner, serving
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, REPLICA_LABEL, SET_LABEL, index, label
from tests.simulation.world import CLIQUE, GROUP, SET, is_ready

ROLLING, TERMINATION, NO_LONGER_WANTED = "RollingUpdate", "GangTermination", "no longer wanted"
"""The last one is not written onto objects: it is what remains for those that go without a reason of their own."""
DEFAULT_DELAY = "4h"
NEVER_COMPLETE = ("ScaledBelowMinAvailable", "NotAvailableSinceScaledOut", "NotAvailableSinceUpdated")
TOLD_WITHIN = 1.0
"""Seconds in which whoever has decided to scale in may still do so, although more has been declared meanwhile: its requests are sent."""


class Reasons:
    """What was seen of each part: how many served when an update took the last one, and when fewer were declared than it needs."""

    def __init__(self, state: ClusterState, told_within: float = TOLD_WITHIN) -> None:
        self.state, self.told_within = state, told_within
        self.served: dict[str, int] = {}
        self.low: dict[str, float] = {}
        self.are_low = set[str]()

    def look(self, parts: Iterable[Manifest] | None = None) -> None:
        """Notes what is declared and which updates are over, in all PodCliques and scaling groups or in those that were just written."""
        for one in self._parts() if parts is None else parts:
            name = one["metadata"]["name"]
            is_low = one["spec"]["replicas"] < _needed(one)
            if is_low or name in self.are_low:  # it was until now, as nothing was written in between
                self.low[name] = self.state.now
            (self.are_low.add if is_low else self.are_low.discard)(name)
            has_ended = (one.get("status", {}).get("updateProgress") or {}).get("updateEndedAt")
            if name in self.served and has_ended and not self._has_older_pods(one):  # else it has been paused
                del self.served[name]

    def forget(self, name: str) -> None:
        """Notes that a PodClique or scaling group is gone: another one of its name begins afresh."""
        self.served.pop(name, None)
        self.low.pop(name, None)
        self.are_low.discard(name)

    def check(self, pod: Manifest, reason: str) -> None:
        """Raises `AssertionError` where a ready pod was deleted for a reason that does not hold.

        One that goes with its replica may have the reason of an earlier request, which was not carried out.
        """
        if self._goes_with_what_it_is_of(pod):
            return
        if reason == ROLLING:
            self._check_roll(pod, serving(self.state, pod), serving(self.state))
        elif reason == TERMINATION:
            self._check_termination(pod)
        elif reason == NO_LONGER_WANTED:
            self._check_scale_in(pod)
        else:
            self._check_training(pod, reason)

    def check_clique(self, clique: Manifest, reason: str) -> None:
        """Raises `AssertionError` where a PodClique is to be deleted, and its ready pods with it, for a reason that does not hold."""
        pods = [one for one in self.state.pods() if owner(one) == clique["metadata"]["uid"] and is_ready(one)]
        if not pods:
            return
        if self._goes_with_what_it_is_of(clique):
            return
        assert reason == ROLLING, f"{clique['metadata']['name']} was deleted with {len(pods)} ready pods ({reason})"
        self._check_roll(pods[0], serving(self.state), serving(self.state, without={one["metadata"]["uid"] for one in pods}))

    def _check_roll(self, pod: Manifest, before: dict[str, int], now: dict[str, int]) -> None:
        name = label(pod, GROUP_LABEL) or label(pod, CLIQUE_LABEL)
        part = self._find(GROUP if label(pod, GROUP_LABEL) else CLIQUE, name)
        if part is None or now.get(name, 0) >= before.get(name, 0):
            return
        is_current = not label(pod, GROUP_LABEL) and label(part, POD_HASH_LABEL) == label(pod, POD_HASH_LABEL)
        assert not is_current, f"an update takes {pod['metadata']['name']}, which has the template that is declared"
        lost = [*self.state.lately_lost(), *self.state.lately_deleted()]
        known = serving(self.state, pod, *lost)[name] if lost else before[name]
        least = min(self.served.get(name, 0), part["spec"]["replicas"])
        missing = at_a_time(self.state).get(name, 1) - 1
        assert known >= least - missing, f"an update takes one of {before[name]} of {name}, of which {least} served when it took the last"
        needed = needs(self.state)[name]
        left = known - (before[name] - now[name])
        assert left >= needed, f"an update takes what is needed: {now[name]} of {name} are left, and it needs {needed}"
        self.served[name] = max(before[name], least) if missing else before[name]

    def _check_termination(self, pod: Manifest) -> None:
        set = self._set_of(pod)
        if set is None:
            return
        delay = seconds(set["spec"]["template"].get("terminationDelay") or DEFAULT_DELAY)
        lasted = [self._breached_for(one, pod) for one in self._parts() if _replica(one) == _replica(pod)]
        longest = max((one for one in lasted if one is not None), default=None)
        assert longest is not None, f"{pod['metadata']['name']} was deleted for a breach, and there is none"
        assert longest >= delay, f"{pod['metadata']['name']} was deleted for a breach that had lasted {longest:.0f} s of {delay}"

    def _breached_for(self, part: Manifest, deleted: Manifest) -> float | None:
        """For how many seconds a part has been breached while enough was declared; none where it is not.

        The pod that was just `deleted` counts as if it were there.
        """
        conditions = part.get("status", {}).get("conditions") or []
        breach = next((one for one in conditions if (one["type"], one["status"]) == ("MinAvailableBreached", "True")), None)
        if breach is None or breach["reason"] in NEVER_COMPLETE or part["spec"]["replicas"] < _needed(part):
            return None
        if lacks_what_people_bring(self.state, part, self._set_of(part), deleted):
            return None
        since = time(breach["lastTransitionTime"]) or 0.0
        return self.state.now - max(since, self.low.get(part["metadata"]["name"], 0.0))

    def _check_scale_in(self, pod: Manifest) -> None:
        clique, set = self._find(CLIQUE, label(pod, CLIQUE_LABEL)), self._set_of(pod)
        if clique is None or is_terminating(clique) or set is None:
            return
        is_orphan = owner(pod) not in ("", clique["metadata"]["uid"])  # the PodClique that it was of is gone
        if is_orphan or training.is_of_older_attempt(pod, set):
            return
        left = [one for one in self.state.pods() if owner(one) == clique["metadata"]["uid"]]
        declared = self._declared(clique)
        assert len(left) >= declared, f"{clique['metadata']['name']} was scaled in to {len(left)} pods, and {declared} are declared"

    def _check_training(self, pod: Manifest, reason: str) -> None:
        set = self._set_of(pod)
        assert set is None or training.may_delete(set, reason), f"{pod['metadata']['name']} was deleted for {reason!r}"

    def _has_older_pods(self, part: Manifest) -> bool:
        cliques = [part] if part["kind"] == CLIQUE.kind else self.state.all(CLIQUE)
        hashes = {one["metadata"]["uid"]: label(one, POD_HASH_LABEL) for one in cliques}
        name, belongs = part["metadata"]["name"], GROUP_LABEL if part["kind"] == GROUP.kind else CLIQUE_LABEL
        return any(label(one, POD_HASH_LABEL) != hashes.get(owner(one)) for one in self.state.pods() if label(one, belongs) == name)

    def _goes_with_what_it_is_of(self, one: Manifest) -> bool:
        """Whether a pod or PodClique is of a set that goes, or of a replica of it or of a scaling group that is not declared any more."""
        set = self._set_of(one)
        if set is None or is_terminating(set):
            return True
        group = self._find(GROUP, label(one, GROUP_LABEL))
        declared = 0 if group is None else (replicas := self._declared(group)) and max(replicas, group["spec"]["minAvailable"])
        is_member = label(one, MEMBER_LABEL) != ""
        return index(one, REPLICA_LABEL) >= self._declared(set) or (is_member and index(one, MEMBER_LABEL) >= declared)

    def _declared(self, one: Manifest) -> int:
        return self.state.declared(one, self.told_within)

    def _parts(self) -> Iterator[Manifest]:
        yield from self.state.all(CLIQUE)
        yield from self.state.all(GROUP)

    def _find(self, kind: Kind, name: str) -> Manifest | None:
        return self.state.find(kind, name)

    def _set_of(self, one: Manifest) -> Manifest | None:
        return self._find(SET, label(one, SET_LABEL))


def _replica(one: Manifest) -> tuple[str, str]:
    """The set and the index of the replica that a part or a pod is of."""
    return label(one, SET_LABEL), label(one, REPLICA_LABEL)


def _needed(part: Manifest) -> int:
    """How many have to be declared of a part for it to be breached at all; a scaling group above zero keeps what it needs."""
    return int(part["spec"].get("minAvailable") or 0) if part["kind"] == "PodClique" else 1
