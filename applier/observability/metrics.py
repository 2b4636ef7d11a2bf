"""Exports Prometheus metrics of runs, requests, the queue and the cache."""

from __future__ import annotations

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from applier.cache import WatchCache
from applier.events import Adapted, Event, Finished, Ready, Retried, RunEnded, Throttled
from applier.observability.collectors import CacheMetrics, CountedRequests, Queue, QueueMetrics, RequestMetrics

SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)


class Metrics:
    """Implements a `Sink` that updates metrics. `watch_queue`, `watch_cache` and `watch_requests` add those of other objects.

    `queue_wait` and `queue_work` take seconds, for `WorkQueue(on_wait=…, on_work=…)`. Names begin with `prefix`.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY, *, prefix: str = "applier") -> None:
        self._registry, self._prefix = registry, prefix
        self._objects = Counter(f"{prefix}_objects", "Objects by result", ["action", "kind"], registry=registry)
        self._writes = Histogram(
            f"{prefix}_write_seconds", "Duration of the apply of an object", ["action"], buckets=SHORT, registry=registry
        )
        self._ready = Histogram(f"{prefix}_ready_seconds", "Time until objects became ready", buckets=LONG, registry=registry)
        self._runs = Histogram(f"{prefix}_run_seconds", "Duration of runs", buckets=LONG, registry=registry)
        self._run_requests = Counter(f"{prefix}_run_requests", "Requests of runs", registry=registry)
        self._retries = Counter(f"{prefix}_retries", "Retried requests", registry=registry)
        self._throttles = Counter(f"{prefix}_throttles", "Throttled requests", registry=registry)
        self._limit = Gauge(f"{prefix}_write_limit", "Limit of concurrent writes", registry=registry)
        waited = Histogram(f"{prefix}_queue_wait_seconds", "Time that keys waited for a worker", buckets=SHORT, registry=registry)
        worked = Histogram(f"{prefix}_queue_work_seconds", "Duration of reconciles", buckets=SHORT, registry=registry)
        self.queue_wait, self.queue_work = waited.observe, worked.observe

    def __call__(self, event: Event) -> None:
        match event:
            case Finished(outcome):
                self._objects.labels(str(outcome.action), outcome.step.ref.kind).inc()
                if outcome.seconds:
                    self._writes.labels(str(outcome.action)).observe(outcome.seconds)
            case Ready(_, seconds):
                self._ready.observe(seconds)
            case RunEnded(_, seconds, requests):
                self._runs.observe(seconds)
                self._run_requests.inc(requests)
            case Retried():
                self._retries.inc()
            case Throttled(_, in_flight):
                self._throttles.inc()
                self._limit.set(in_flight)
            case Adapted(in_flight, _):
                self._limit.set(in_flight)

    def watch_queue(self, queue: Queue, name: str = "main") -> None:
        """Exports how many keys wait, are being worked on and are delayed, and how long the oldest has waited."""
        self._registry.register(QueueMetrics(self._prefix, name, queue))

    def watch_cache(self, cache: WatchCache) -> None:
        """Exports the age of each kind's state, the number of objects, and the lists, streams and events that kept them up to date."""
        self._registry.register(CacheMetrics(self._prefix, cache))

    def watch_requests(self, cluster: CountedRequests) -> None:
        """Exports the number of requests that a cluster made, by verb and resource."""
        self._registry.register(RequestMetrics(self._prefix, cluster))
