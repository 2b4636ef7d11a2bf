"""Reports in a set's condition `WhyPending`, and in an event, what a set waits for that lacks pods for a while, as `grove why` does."""

from __future__ import annotations

from collections.abc import Iterable

from applier.ref import Manifest, Ref
from grove_compiler.engine.runtime.results import Event, ObjectWait, StatusCondition, event_name
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import STALLED, condition_of, is_true
from grove_compiler.step import GROUP, Key, StepResult
from grove_operator.cluster.why import reasons, root_cause
from grove_operator.controller.stalled_condition import set_key

CONDITION = "WhyPending"
OWN_NEXT_WRITES = ("GateNotLifted", "NotYetInGang")
"""Reasons that nothing but the operator's next write is left to wait for. An operator that evaluates them is about to write it: what waited
for a node for minutes would get an event in the very moment at which it goes on. People who ask while no operator runs are told them."""
GRACE_PERIOD = 30.0
"""Seconds. A set that starts is pending for a moment many times over; to report each of them would cost a write."""


class PendingTracker:
    """Tracks which replicas of each set lack pods, and since when the set has any. After a restart grace periods begin again."""

    def __init__(self) -> None:
        self._replicas: dict[Key, set[int]] = {}
        self._since: dict[Key, float] = {}

    def observe(self, key: Key, result: StepResult | None) -> bool:
        """Records whether a replica lacks pods, by the result of its step; none for a key that is gone.

        Returns whether its set has to be evaluated again.
        """
        if key.replica is None:
            if result is None:
                self._replicas.pop(key, None)
                self._since.pop(key, None)
            return False
        pending = self._replicas.setdefault(set_key(key), set())
        was_pending = bool(pending)
        if result is not None and _lacks_pods(result):
            pending.add(key.replica)
        else:
            pending.discard(key.replica)
        return bool(pending) != was_pending

    def overdue_replica(self, key: Key, now: float) -> tuple[int | None, float]:
        """Returns the first replica that lacks pods once the set's grace period is over, and the rest of that period in seconds.

        The rest is 0 when it is over or no replica lacks pods.
        """
        pending = self._replicas.get(key)
        if not pending:
            self._since.pop(key, None)
            return None, 0.0
        remaining = self._since.setdefault(key, now) + GRACE_PERIOD - now
        return (None, remaining) if remaining > 0 else (min(pending), 0.0)


def pending_condition(of: ObjectRef, waits: Iterable[ObjectWait]) -> StatusCondition | None:
    """Returns the condition of a set by what its objects wait for; none when they wait for nothing."""
    causes = reasons(Ref(GROUP, of.kind, of.namespace, of.name), waits)
    if not causes:
        return None
    root = root_cause(causes[0])
    return StatusCondition(of, CONDITION, "True", root.reason, f"{root.of.kind} {root.of.name}: {root.message}", "")


def pending_event(condition: StatusCondition, live: Manifest) -> list[Event]:
    """Returns the event for a set's condition; none when the live condition has the same reason, or that needs none, or the set is stalled.

    A scheduler's message changes with each count of the nodes: the condition reports that, and no event. `Stalled` has an event of its own.
    """
    known = (condition_of(live, CONDITION).get("reason"), *OWN_NEXT_WRITES)
    if condition.reason in known or is_true(live, STALLED):
        return []
    name = event_name(condition.of, condition.reason, condition.message)
    return [Event(condition.of, "Warning", condition.reason, condition.message, name, "")]


def _lacks_pods(result: StepResult) -> bool:
    """Returns whether a clique of the replica has fewer ready pods than are declared or needed, or a scaling group is scaled to zero."""
    reports = [patch for patch in result.statuses if patch.of.kind in ("PodClique", "PodCliqueScalingGroup")]
    if any(patch.of.kind == "PodCliqueScalingGroup" and patch.body.get("replicas") == 0 for patch in reports):
        return True
    ready = {patch.of.name: patch.body["readyReplicas"] for patch in reports if "readyReplicas" in patch.body}
    cliques = (node.object for node in result.graph.nodes if node.object["kind"] == "PodClique")
    required = {clique["metadata"]["name"]: max(clique["spec"]["minAvailable"], clique["spec"]["replicas"]) for clique in cliques}
    return any(ready.get(name, 0) < count for name, count in required.items())
