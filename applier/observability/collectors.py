"""Collects metrics of the queue, the cache and requests, computed when Prometheus scrapes them."""

from __future__ import annotations

import asyncio
from collections import Counter as Count
from collections.abc import Iterable, Mapping
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from applier.cache import WatchCache


class Queue(Protocol):
    """Describes the figures of a work queue that are exported."""

    def depth(self) -> int: ...
    def active(self) -> int: ...
    def delayed(self) -> int: ...
    def oldest(self) -> float: ...


class CountedRequests(Protocol):
    """Describes a cluster that counts its requests, by verb and plural."""

    requests: Count[tuple[str, str]]


class QueueMetrics(Collector):
    """Exports the length and age of a queue. Computed at each scrape, since updating metrics on each change of a queue costs too much."""

    def __init__(self, prefix: str, name: str, queue: Queue) -> None:
        self._prefix, self._name, self._queue = prefix, name, queue

    def collect(self) -> Iterable[GaugeMetricFamily]:
        queue = self._queue
        values = {
            "keys_waiting": ("Keys waiting for a worker", queue.depth()),
            "keys_in_work": ("Keys being reconciled", queue.active()),
            "keys_delayed": ("Keys scheduled for later", queue.delayed()),
            "oldest_seconds": ("Waiting time of the oldest key", queue.oldest()),
        }
        for name, (text, value) in values.items():
            family = GaugeMetricFamily(f"{self._prefix}_queue_{name}", text, labels=["queue"])
            family.add_metric([self._name], value)
            yield family


class CacheMetrics(Collector):
    """Exports the age of each kind's state, the number of objects, and the lists, streams and events that kept them up to date."""

    def __init__(self, prefix: str, cache: WatchCache) -> None:
        self._prefix, self._cache, self._loop = prefix, cache, asyncio.get_running_loop()

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        labels = ["kind", "namespace"]
        age = GaugeMetricFamily(
            f"{self._prefix}_cache_age_seconds", "Time since the cache was last confirmed to be up to date", labels=labels
        )
        counts = {
            name: CounterMetricFamily(f"{self._prefix}_cache_{name}", text, labels=labels)
            for name, text in {"lists": "List requests", "streams": "Watches opened", "events": "Watch events"}.items()
        }
        for source in self._cache.sources():
            values = [source.query.kind.group_kind, source.query.namespace]
            age.add_metric(values, self._loop.time() - source.confirmed_at)
            for name, family in counts.items():
                family.add_metric(values, getattr(source, name))
        objects = GaugeMetricFamily(f"{self._prefix}_cache_objects", "Cached objects", value=self._cache.count())
        lag = GaugeMetricFamily(
            f"{self._prefix}_cache_lag_seconds",
            "Time since the oldest write that the watches have not delivered yet",
            value=self._cache.lag(),
        )
        return [age, *counts.values(), objects, lag]


class RequestMetrics(Collector):
    """Exports the number of requests that a cluster made."""

    def __init__(self, prefix: str, cluster: CountedRequests) -> None:
        self._prefix, self._cluster = prefix, cluster

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(f"{self._prefix}_requests", "Requests to the API server", labels=["verb", "resource"])
        made: Mapping[tuple[str, str], int] = dict(self._cluster.requests)
        for (verb, plural), count in made.items():
            family.add_metric([verb, plural], count)
        return [family]
