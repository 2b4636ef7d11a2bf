"""Says of a set that has waited for a while what it waits for, in one condition and an event: the reason that `grove why` gives."""

from __future__ import annotations

from collections.abc import Iterable

from applier.ref import Manifest, Ref
from grove_compiler.engine.runtime.results import Condition, Event, Wait, event_name
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import condition_of, is_true
from grove_compiler.model.expanded.live_object import STALLED
from grove_compiler.step import GROUP, Key, Step
from grove_operator.cluster.why import Reason, reasons
from grove_operator.controller.troubles import whole

CONDITION = "WhyPending"
PATIENCE = 30.0
"""Seconds. A set that comes up is pending for a moment many times over, and each time would cost a write that nobody reads."""


class Pending:
    """Remembers which replicas of each set lack pods, and since when the set has had such. A process that starts anew waits once more."""

    def __init__(self) -> None:
        self._replicas: dict[Key, set[int]] = {}
        self._since: dict[Key, float] = {}

    def note(self, key: Key, made: Step | None) -> bool:
        """Takes down whether a replica lacks pods; none stands for a key that is gone. Tells whether the set has to know."""
        if key.replica is None:
            if made is None:
                self._replicas.pop(key, None)
                self._since.pop(key, None)
            return False
        known = self._replicas.setdefault(whole(key), set())
        was_pending = bool(known)
        if made is not None and _lacks_pods(made):
            known.add(key.replica)
        else:
            known.discard(key.replica)
        return bool(known) != was_pending

    def replica(self, key: Key, now: float) -> tuple[int | None, float]:
        """Returns a replica of a set that has lacked pods for long enough to be told of, and in how many seconds to ask again; 0 for never.

        It is the first one: people mend one after the other.
        """
        known = self._replicas.get(key)
        if not known:
            self._since.pop(key, None)
            return None, 0.0
        left = self._since.setdefault(key, now) + PATIENCE - now
        return (None, left) if left > 0 else (min(known), 0.0)


def condition(of: ObjectRef, waits: Iterable[Wait]) -> Condition | None:
    """Returns the condition of a set, from what its objects wait for; none where that is nothing."""
    found = reasons(Ref(GROUP, of.kind, of.namespace, of.name), waits)
    if not found:
        return None
    cause = _last_cause(found[0])
    return Condition(of, CONDITION, "True", cause.reason, f"{cause.of.kind} {cause.of.name}: {cause.message}", "")


def event(told: Condition, live: Manifest) -> list[Event]:
    """Returns the event in the words of a set's condition; none where the set has borne the same reason before, whatever its words were.

    A scheduler counts the nodes anew all the time: that is for the condition to say, and no news. What stalls a set has its own event.
    """
    if condition_of(live, CONDITION).get("reason") == told.reason or is_true(live, STALLED):
        return []
    name = event_name(told.of, told.reason, told.message)
    return [Event(told.of, "Warning", told.reason, told.message, name, "")]


def _last_cause(reason: Reason) -> Wait:
    while reason.below:
        reason = reason.below[0]
    return reason.wait


def _lacks_pods(made: Step) -> bool:
    """Whether a clique of the replica has fewer ready pods than it cannot do without, as far as the step reports it.

    Nobody waits for those of one that somebody has scaled to nothing.
    """
    reports = (patch for patch in made.statuses if patch.of.kind == "PodClique" and "readyReplicas" in patch.body)
    ready = {patch.of.name: patch.body["readyReplicas"] for patch in reports}
    cliques = (node.object for node in made.graph.nodes if node.object["kind"] == "PodClique")
    least = {one["metadata"]["name"]: min(one["spec"]["minAvailable"], one["spec"]["replicas"]) for one in cliques}
    return any(ready.get(name, 0) < count for name, count in least.items())
