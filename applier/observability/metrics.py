"""Metrics for Prometheus: what runs do, what they ask of the server, how deep the queue and how old the cache is."""

from __future__ import annotations

import asyncio
from collections import Counter as Count
from collections.abc import Iterable, Mapping
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from applier.cache import WatchCache
from applier.events import Adapted, Event, Finished, Ready, Retried, RunEnded, Throttled

SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)


class Queue(Protocol):
    """What is asked of a work queue."""

    def depth(self) -> int: ...
    def active(self) -> int: ...
    def delayed(self) -> int: ...
    def oldest(self) -> float: ...


class Asked(Protocol):
    """What is asked of a cluster: how many requests it made, by verb and plural."""

    requests: Count[tuple[str, str]]


class Metrics:
    """A `Sink` that counts. Give it what else is to be seen with `watch_queue`, `watch_cache` and `watch_requests`.

    `queue_wait` and `queue_work` take seconds: they fit `WorkQueue(on_wait=…, on_work=…)`. Names begin with `prefix`.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY, *, prefix: str = "applier") -> None:
        self._registry, self._prefix = registry, prefix
        self._objects = Counter(f"{prefix}_objects", "Objects by what became of them", ["action", "kind"], registry=registry)
        self._writes = Histogram(f"{prefix}_write_seconds", "How long an object took", ["action"], buckets=SHORT, registry=registry)
        self._ready = Histogram(f"{prefix}_ready_seconds", "How long objects took to become ready", buckets=LONG, registry=registry)
        self._runs = Histogram(f"{prefix}_run_seconds", "How long runs took", buckets=LONG, registry=registry)
        self._run_requests = Counter(f"{prefix}_run_requests", "Requests that runs made", registry=registry)
        self._retries = Counter(f"{prefix}_retries", "Requests that were made again", registry=registry)
        self._throttles = Counter(f"{prefix}_throttles", "How often the server asked to slow down", registry=registry)
        self._limit = Gauge(f"{prefix}_write_limit", "How many writes may be in flight at once", registry=registry)
        waited = Histogram(f"{prefix}_queue_wait_seconds", "How long keys waited for a worker", buckets=SHORT, registry=registry)
        worked = Histogram(f"{prefix}_queue_work_seconds", "How long keys were worked on", buckets=SHORT, registry=registry)
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
        """Shows how many keys wait, are in work and are due later, and for how long the oldest has waited."""
        self._registry.register(_QueueMetrics(self._prefix, name, queue))

    def watch_cache(self, cache: WatchCache) -> None:
        """Shows how old each kind is, how many objects are known, and what keeping them up to date took."""
        self._registry.register(_CacheMetrics(self._prefix, cache))

    def watch_requests(self, cluster: Asked) -> None:
        """Shows how many requests a cluster made, by verb and resource."""
        self._registry.register(_RequestMetrics(self._prefix, cluster))


class _QueueMetrics(Collector):
    """Read when Prometheus asks: a queue is too busy to be told of."""

    def __init__(self, prefix: str, name: str, queue: Queue) -> None:
        self._prefix, self._name, self._queue = prefix, name, queue

    def collect(self) -> Iterable[GaugeMetricFamily]:
        queue = self._queue
        values = {
            "keys_waiting": ("Keys that wait for a worker", queue.depth()),
            "keys_in_work": ("Keys that are worked on", queue.active()),
            "keys_delayed": ("Keys that are due later", queue.delayed()),
            "oldest_seconds": ("How long the first of them has waited", queue.oldest()),
        }
        for name, (text, value) in values.items():
            family = GaugeMetricFamily(f"{self._prefix}_queue_{name}", text, labels=["queue"])
            family.add_metric([self._name], value)
            yield family


class _CacheMetrics(Collector):
    def __init__(self, prefix: str, cache: WatchCache) -> None:
        self._prefix, self._cache, self._loop = prefix, cache, asyncio.get_running_loop()

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        labels = ["kind", "namespace"]
        age = GaugeMetricFamily(
            f"{self._prefix}_cache_age_seconds", "Since the server last proved that the cache is up to date", labels=labels
        )
        counts = {
            name: CounterMetricFamily(f"{self._prefix}_cache_{name}", text, labels=labels)
            for name, text in {
                "lists": "Lists that were read",
                "streams": "Watches that were opened",
                "events": "Events of watches",
            }.items()
        }
        for source in self._cache.sources():
            of = [source.wanted.kind.group_kind, source.wanted.namespace]
            age.add_metric(of, self._loop.time() - source.heard)
            for name, family in counts.items():
                family.add_metric(of, getattr(source, name))
        objects = GaugeMetricFamily(f"{self._prefix}_cache_objects", "Objects that are known", value=self._cache.count())
        lag = GaugeMetricFamily(
            f"{self._prefix}_cache_lag_seconds", "Since our oldest write that the watches have not told yet", value=self._cache.lag()
        )
        return [age, *counts.values(), objects, lag]


class _RequestMetrics(Collector):
    def __init__(self, prefix: str, cluster: Asked) -> None:
        self._prefix, self._cluster = prefix, cluster

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(f"{self._prefix}_requests", "Requests to the API server", labels=["verb", "resource"])
        made: Mapping[tuple[str, str], int] = dict(self._cluster.requests)
        for (verb, plural), count in made.items():
            family.add_metric([verb, plural], count)
        return [family]
