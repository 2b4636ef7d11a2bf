"""Reports in a set's condition `WhyPending`, and in an event, what a set waits for that lacks pods for a while, as `grove why` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from applier.ref import Manifest, Ref
from grove_compiler.engine.runtime.results import Event, ObjectWait, StatusCondition, event_name
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import STALLED, condition_of, is_held, is_true
from grove_compiler.step import GROUP, Key, StepHold, StepResult
from grove_operator.cluster.why import reasons, root_cause
from grove_operator.controller.membership import replicas_of

CONDITION = "WhyPending"
GRACE_PERIOD = 30.0
"""Seconds. A set that starts is pending for a moment many times over; to report each of them would cost a write."""
EVENT_DELAY = 5.0
"""Seconds that a reason lasts before it is an event. What has waited for minutes goes through several within one, when it goes on."""


class _Reason(NamedTuple):
    """The reason that a set has now, when it is to be an event (none if it has been one), and the last one that was; empty for none."""

    now: str
    due: float | None
    told: str


class PendingTracker:
    """Tracks which replicas of each set lack pods, since when the set has any, and why.

    After a restart, and where the clock goes back, grace periods begin again, but for sets whose condition reports a reason already: that
    stays until all of their replicas have been observed.
    """

    def __init__(self) -> None:
        self._replicas: dict[Key, set[int]] = {}
        self._observed: dict[Key, set[int]] = {}
        self._kept: set[Key] = set()
        self._since: dict[Key, float] = {}
        self._reasons: dict[Key, _Reason] = {}

    def observe(self, key: Key, result: StepResult | StepHold | None) -> bool:
        """Records whether a replica lacks pods, by the result of its step; none for a key that is gone. Of one that is held that is told.

        Returns whether its set has to be evaluated again.
        """
        if key.replica is None:
            if result is None:
                self._replicas.pop(key, None)
                self._observed.pop(key, None)
                self._kept.discard(key)
                self._forget(key)
            return False
        pending, observed = self._replicas.setdefault(key.whole, set()), self._observed.setdefault(key.whole, set())
        was_pending, is_news = bool(pending), key.whole in self._kept and key.replica not in observed
        (observed.discard if result is None else observed.add)(key.replica)
        if isinstance(result, StepResult) and _lacks_pods(result):
            pending.add(key.replica)
        else:
            pending.discard(key.replica)
        if not observed:  # of a set that is gone, which its replicas outlive
            del self._replicas[key.whole], self._observed[key.whole]
        return is_news or bool(pending) != was_pending

    def kept_condition(self, key: Key, live: Manifest) -> StatusCondition | None:
        """Returns the condition that a set has, until it is known whether that still holds; none where it is, or where there is none.

        Before a process has observed all replicas, it knows of none that lacks pods.
        """
        self._kept.discard(key)
        told = condition_of(live, CONDITION)
        is_known = self._replicas.get(key) or len(self._observed.get(key, ())) >= replicas_of(live)
        if is_known or told.get("status") != "True":
            return None
        self._kept.add(key)
        return StatusCondition(ObjectRef.of(live), CONDITION, "True", told.get("reason", ""), told.get("message", ""), "")

    def overdue_replica(self, key: Key, live: Manifest, now: float) -> tuple[int | None, float]:
        """Returns the first replica that lacks pods once the set's grace period is over, and the rest of that period in seconds.

        The rest is 0 when it is over or no replica lacks pods.
        """
        pending = self._replicas.get(key)
        if not pending:
            self._forget(key)
            return None, 0.0
        began = now - GRACE_PERIOD if is_true(live, CONDITION) else now
        self._since[key] = since = min(self._since.get(key, began), now)
        remaining = since + GRACE_PERIOD - now
        return (None, remaining) if remaining > 0 else (min(pending), 0.0)

    def event(self, key: Key, condition: StatusCondition, live: Manifest, now: float) -> tuple[list[Event], float]:
        """Returns the event about a set's reason if it is due, and otherwise in how many seconds it will be; 0 where none is left to tell.

        A scheduler's message changes with each count of the nodes: the condition reports that, and no event.
        """
        known = self._reasons.get(key) or _Reason("", None, condition_of(live, CONDITION).get("reason") or "")
        if known.now != condition.reason:
            known = _Reason(condition.reason, None if known.told == condition.reason else now + EVENT_DELAY, known.told)
        if known.due is not None:
            known = known._replace(due=min(known.due, now + EVENT_DELAY))
        is_due = known.due is not None and known.due <= now
        self._reasons[key] = known = _Reason(condition.reason, None, condition.reason) if is_due else known
        return _event(condition, live) if is_due else [], 0.0 if known.due is None else known.due - now

    def _forget(self, key: Key) -> None:
        self._since.pop(key, None)
        self._reasons.pop(key, None)


def pending_condition(of: ObjectRef, waits: Iterable[ObjectWait]) -> StatusCondition | None:
    """Returns the condition of a set by what its objects wait for; none when they wait for nothing."""
    causes = reasons(Ref(GROUP, of.kind, of.namespace, of.name), waits)
    if not causes:
        return None
    root = root_cause(causes[0])
    return StatusCondition(of, CONDITION, "True", root.reason, f"{root.of.kind} {root.of.name}: {root.message}", "")


def _event(condition: StatusCondition, live: Manifest) -> list[Event]:
    """Returns the event for a set's condition; none for objects that the server rejects, of which an event tells already."""
    if is_true(live, STALLED) and not is_held(live):
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
