"""The operator's metrics for Prometheus. `docs/metrics.md` has them all, which a test holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from applier.errors import WriteConflict
from applier.events import Event, Finished, Retried, Throttled
from applier.loop import Result
from applier.observability.collectors import CacheMetrics, CountedRequests, QueueMetrics, RequestMetrics
from applier.observability.metrics import SHORT
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from grove_compiler.step import Key
from grove_compiler.version import __version__
from grove_operator.controller.operator import Operator
from grove_operator.telemetry.gated_pods import gated_pods
from grove_operator.telemetry.health import Health, State
from grove_operator.telemetry.missing_rights import MissingRights
from grove_operator.telemetry.set_readiness import SetReadiness
from grove_operator.telemetry.vocabulary import STATUS, controller, error_type, write_reason

PREFIX = "grove_operator"
LONG = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class OperatorMetrics:
    """Counts. It is a `Sink` for the applier's events; `result` takes what came of each look, `watch` shows a running operator.

    `queue_wait` and `queue_work` take the seconds that keys waited and were worked on.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        count, duration = self._counter, self._histogram
        self._looks = count("reconciles", "Looks at keys by what came of them", "controller", "result")
        self._errors = count(
            "reconcile_errors", "Objects and keys that could not be brought to where they should be", "controller", "error_type"
        )
        self._conflicts = count(
            "status_update_conflict", "Statuses that were worked out again because the object had changed", "controller", "target_kind"
        )
        self._writes = count("writes", "Objects that were written or deleted, and why", "kind", "action", "reason")
        self._write_seconds = duration("write_seconds", "How long a write of an object took", SHORT, "action")
        self._ready = duration("set_ready_seconds", "How long sets took until all that they declare was available", LONG, "after")
        self._retries = count("request_retries", "Requests that were made again")
        self._throttles = count("request_throttles", "How often the server asked to slow down")
        self._reloads = count("rule_reloads", "Rules that had changed while the operator ran, by what became of them", "result")
        self.queue_wait = duration("queue_wait_seconds", "How long keys waited for a worker", SHORT).observe
        self.queue_work = duration("queue_work_seconds", "How long keys were worked on", SHORT).observe
        Info(f"{PREFIX}_build", "The version that runs", registry=registry).info({"version": __version__})
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
        """Takes what came of a look at a key."""
        who = controller(result.key)
        failed = [one for one in result.outcomes if one.action is Action.FAILED]
        for error in [*([result.error] if result.error else []), *(one.error for one in failed)]:
            self._errors.labels(who, error_type(error)).inc()
        if result.held and result.error is None:
            self._errors.labels(who, "Held").inc()
        for one in result.outcomes:
            if one.action in UNDONE and one.step.reason == STATUS and isinstance(one.error, WriteConflict):
                self._conflicts.labels(who, one.step.ref.kind).inc()
        self._looks.labels(who, _result(result, bool(failed))).inc()

    def reloaded(self, result: str) -> None:
        """Takes what became of rules that had changed: `taken`, or `refused` because something is wrong with them."""
        self._reloads.labels(result).inc()

    def watch(
        self, operator: Operator, cluster: CountedRequests, health: Callable[[], Health], clock: Callable[[], float], missing: MissingRights
    ) -> None:
        """Shows how an operator stands that runs in this event loop: its state, queue, cache, requests, and the pods that wait."""
        self.registry.register(QueueMetrics(PREFIX, "keys", operator.loop.queue))
        self.registry.register(CacheMetrics(PREFIX, operator.cache))
        self.registry.register(RequestMetrics(PREFIX, cluster))
        self.registry.register(_State(operator, health, missing))
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
    """Worked out when Prometheus asks."""

    def __init__(self, operator: Operator, health: Callable[[], Health], missing: MissingRights) -> None:
        self._operator, self._health, self._missing = operator, health, missing

    def collect(self) -> Iterable[GaugeMetricFamily]:
        state = GaugeMetricFamily(f"{PREFIX}_state", "1 for what the operator does now", labels=["state"])
        now = self._health().state
        for one in State:
            state.add_metric([one], float(one is now))
        gated = GaugeMetricFamily(f"{PREFIX}_gated_pods", "Pods behind our gate, by what they wait for", labels=["reason"])
        for reason, pods in gated_pods(self._operator.cache).items():
            gated.add_metric([reason], pods)
        rights = GaugeMetricFamily(f"{PREFIX}_missing_rights", "1 for each permission that the operator lacks", labels=["verb", "resource"])
        for right in self._missing.now(self._operator.cache):
            rights.add_metric(right, 1.0)
        limit = GaugeMetricFamily(f"{PREFIX}_write_limit", "How many writes may be in flight at once", value=self._operator.write_limit)
        return [state, gated, rights, limit]


def _result(result: Result[Key], has_failed: bool) -> str:
    if result.held:
        return "held"
    if has_failed:
        return "failed"
    return "written" if result.outcomes else "unchanged"
