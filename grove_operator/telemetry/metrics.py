"""Exports the operator's metrics to Prometheus, also how many pods are gated for what, and how long sets take to become ready.

A test compares them with `docs/metrics.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from applier.errors import NotSynced, WriteConflict
from applier.events import Event, Finished, Retried, Throttled
from applier.loop import Result
from applier.observability.collectors import CacheMetrics, CountedRequests, QueueMetrics, RequestMetrics
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from applier.ref import Manifest, Ref, uid_of
from grove_compiler.kube.conditions import condition_of, is_held, is_true, status_of
from grove_compiler.labels import BASE_GANG_LABEL, GANG_LABEL
from grove_compiler.step import Key
from grove_compiler.version import __version__
from grove_operator.controller.operator import Operator
from grove_operator.telemetry.health import Health, MissingRights, OperatorState
from grove_operator.telemetry.vocabulary import STATUS, controller, error_type, write_reason

if TYPE_CHECKING:
    from applier.cache import WatchCache


PREFIX = "grove_operator"
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
REFUSED, NO_GANG, BASE_PENDING, LIFTED_NEXT = "Refused", "PodGangMissing", "BasePodGangPending", "GateToBeLifted"
INITIALIZED = "Initialized"


class OperatorMetrics:
    """The counters and histograms of an operator. It is a `Sink` for the applier's events; `watch` adds the gauges of a running operator.

    `queue_wait` and `queue_work` take the seconds that keys were queued and that their reconciliation took.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        count, duration = self._counter, self._histogram
        self._reconciles = count("reconciles", "Reconciles by result", "controller", "result")
        self._errors = count("reconcile_errors", "Reconcile errors by type", "controller", "error_type")
        self._conflicts = count(
            "status_update_conflict", "Status writes that conflicted with a change of the object", "controller", "target_kind"
        )
        self._writes = count("writes", "Writes and deletions of objects by reason", "kind", "action", "reason")
        self._write_seconds = duration("write_seconds", "Duration of the write of an object", SHORT, "action")
        self._ready = duration("set_ready_seconds", "Time until all declared replicas of a set were available", LONG, "after")
        self._retries = count("request_retries", "Requests that were retried")
        self._throttles = count("request_throttles", "Requests that the server throttled")
        self._reloads = count("rule_reloads", "Reloads of changed rules by result", "result")
        self.queue_wait = duration("queue_wait_seconds", "Time that requests waited in the queue", SHORT).observe
        self.queue_work = duration("queue_work_seconds", "Duration of reconciles", SHORT).observe
        Info(f"{PREFIX}_build", "The version of the operator", registry=registry).info({"version": __version__})
        ProcessCollector(registry=registry)

    def __call__(self, event: Event) -> None:
        match event:
            case Finished(outcome):
                self._finished(outcome)
            case Retried():
                self._retries.inc()
            case Throttled():
                self._throttles.inc()

    def result(self, result: Result[Key]) -> None:
        """Counts the result of a reconciliation."""
        name = controller(result.key)
        failed = [outcome for outcome in result.outcomes if outcome.action is Action.FAILED]
        for error in [*([result.error] if result.error else []), *(outcome.error for outcome in failed)]:
            self._errors.labels(name, error_type(error)).inc()
        if (result.held or result.kept) and result.error is None:
            self._errors.labels(name, "Held").inc()
        for outcome in result.outcomes:
            if outcome.action in UNDONE and outcome.step.reason == STATUS and isinstance(outcome.error, WriteConflict):
                self._conflicts.labels(name, outcome.step.ref.kind).inc()
        self._reconciles.labels(name, _result(result, bool(failed))).inc()

    def reloaded(self, result: str) -> None:
        """Counts a reload of changed rules: `taken`, or `refused` for invalid ones."""
        self._reloads.labels(result).inc()

    def watch(self, operator: Operator, cluster: CountedRequests, health: Callable[[], Health], missing: MissingRights) -> None:
        """Adds the gauges of an operator in this event loop: its state, queue, cache, requests, and gated pods."""
        self.registry.register(QueueMetrics(PREFIX, "keys", operator.loop.queue))
        self.registry.register(CacheMetrics(PREFIX, operator.cache))
        self.registry.register(RequestMetrics(PREFIX, cluster))
        self.registry.register(_State(operator, health, missing))
        clock = operator.clock
        operator.cache.subscribe(SetReadiness(lambda after, seconds: self._ready.labels(after).observe(seconds), clock, clock()))

    def _finished(self, outcome: Outcome) -> None:
        if outcome.action in WRITTEN or outcome.action is Action.PRUNED:
            self._writes.labels(outcome.step.ref.kind, str(outcome.action), write_reason(outcome)).inc()
            self._write_seconds.labels(str(outcome.action)).observe(outcome.seconds)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"{PREFIX}_{name}", text, labels, buckets=buckets, registry=self.registry)


class _State(Collector):
    """Computes gauges at each scrape."""

    def __init__(self, operator: Operator, health: Callable[[], Health], missing: MissingRights) -> None:
        self._operator, self._health, self._missing = operator, health, missing

    def collect(self) -> Iterable[GaugeMetricFamily]:
        state = GaugeMetricFamily(f"{PREFIX}_state", "1 for the current state", labels=["state"])
        now = self._health().state
        for each in OperatorState:
            state.add_metric([each], float(each is now))
        gated = GaugeMetricFamily(f"{PREFIX}_gated_pods", "Pods with a scheduling gate by what they wait for", labels=["reason"])
        for reason, pods in gated_pods(self._operator.cache).items():
            gated.add_metric([reason], pods)
        rights = GaugeMetricFamily(f"{PREFIX}_missing_rights", "1 for each missing permission", labels=["verb", "resource"])
        for right in self._missing.now(self._operator.cache):
            rights.add_metric(right, 1.0)
        limit = GaugeMetricFamily(f"{PREFIX}_write_limit", "Number of writes that may be in flight", value=self._operator.write_limit)
        return [state, gated, rights, limit]


def _result(result: Result[Key], has_failed: bool) -> str:
    if result.held or result.kept:
        return "held"
    if has_failed:
        return "failed"
    return "written" if result.outcomes else "unchanged"


def gated_pods(cache: WatchCache) -> Mapping[str, int]:
    """Returns the number of gated pods by reason, from the statuses of PodCliques and gangs; empty until these are synced."""
    counts: dict[str, int] = defaultdict(int)
    try:
        for clique in cache.by_label("grove.io", "PodClique"):
            if gated := status_of(clique).get("scheduleGatedReplicas"):
                counts[_reason(cache, clique)] += gated
    except NotSynced:
        return {}
    return counts


def _reason(cache: WatchCache, clique: Manifest) -> str:
    labels = clique["metadata"].get("labels") or {}
    if is_true(clique, "Stalled"):
        return REFUSED
    gang = _gang(cache, clique, labels.get(GANG_LABEL, ""))
    if gang is None:
        return NO_GANG
    initialized = condition_of(gang, INITIALIZED)
    if initialized.get("status") != "True":
        return str(initialized.get("reason") or "PodGangPodsCreationPending")
    return BASE_PENDING if labels.get(BASE_GANG_LABEL) else LIFTED_NEXT


def _gang(cache: WatchCache, clique: Manifest, name: str) -> Manifest | None:
    namespace = clique["metadata"].get("namespace", "")
    return cache.get(Ref("scheduler.grove.io", "PodGang", namespace, name)) if name else None


SET = ("grove.io", "PodCliqueSet")
CREATION, EDIT, LOSS = "creation", "edit", "loss"


class _Waiting(NamedTuple):
    """Since when a set is not ready, in seconds since the epoch, and after what."""

    since: float
    after: str


class SetReadiness:
    """Subscribes to a cache and observes seconds. What was not ready when the program started is left out: nobody knows since when.

    `observe` is given after what, and how many seconds; `clock` gives seconds since the epoch. `since` is when the program started.
    """

    def __init__(self, observe: Callable[[str, float], None], clock: Callable[[], float], since: float) -> None:
        self._observe, self._clock, self._since = observe, clock, since
        self._waiting: dict[str, _Waiting] = {}

    def __call__(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Takes a change of any object."""
        if ref[:2] != SET:
            return
        if old is not None and (new is None or uid_of(new) != uid_of(old)):
            self._waiting.pop(uid_of(old), None)
            old = None
        if new is not None:
            self._look_at(old, new)

    def _look_at(self, old: Manifest | None, new: Manifest) -> None:
        uid = uid_of(new)
        if is_ready(new):
            if (waited := self._waiting.pop(uid, None)) is not None:
                self._observe(waited.after, max(0.0, self._clock() - waited.since))
        elif old is None:
            created = datetime.fromisoformat(new["metadata"]["creationTimestamp"]).timestamp()
            if created + 1.0 > self._since:  # of whole seconds
                self._waiting[uid] = _Waiting(created, CREATION)
        elif is_ready(old) or (uid in self._waiting and _generation(old) != _generation(new)):
            self._waiting[uid] = _Waiting(self._clock(), EDIT if _observed(new) != _generation(new) else LOSS)


def is_ready(pcs: Manifest) -> bool:
    """Whether what a set declares is what runs: all replicas are available and none is of an older declaration, as that of a held edit."""
    status, wanted = status_of(pcs), (pcs.get("spec") or {}).get("replicas", 0)
    counts = [status.get(name, 0) for name in ("replicas", "availableReplicas", "updatedReplicas")]
    return bool(_observed(pcs) == _generation(pcs)) and not is_held(pcs) and counts == [wanted] * 3


def _generation(pcs: Manifest) -> Any:
    return pcs["metadata"].get("generation")


def _observed(pcs: Manifest) -> Any:
    return status_of(pcs).get("observedGeneration")
