"""Metrics show how queue, cache and requests stand."""

from __future__ import annotations

import asyncio
from collections import Counter

from prometheus_client import CollectorRegistry, generate_latest

from applier.cache import WatchCache
from applier.loop import WorkQueue
from applier.observability.collectors import CacheMetrics, QueueMetrics, RequestMetrics
from applier.ref import Kind
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time


def shown(registry: CollectorRegistry) -> dict[str, float]:
    """Samples by name and labels as Prometheus reads them."""
    lines = generate_latest(registry).decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@in_virtual_time
async def test_a_queue_is_shown_as_it_stands() -> None:
    registry = CollectorRegistry()
    queue = WorkQueue[str]()
    registry.register(QueueMetrics("applier", "main", queue))
    queue.add("a")
    queue.add("b")
    queue.add_after("c", 60)
    await asyncio.sleep(2)
    await queue.get()
    found = shown(registry)
    assert [
        found[f'applier_queue_{name}{{queue="main"}}'] for name in ("keys_waiting", "keys_in_work", "keys_delayed", "oldest_seconds")
    ] == [1, 1, 1, 2]


@in_virtual_time
async def test_a_cache_shows_how_old_it_is() -> None:
    registry = CollectorRegistry()
    cluster = MemoryCluster()
    cache = WatchCache(cluster, [(Kind("", "v1", "Namespace"), "")])
    await cache.start()
    await cache.synced()
    registry.register(CacheMetrics("applier", cache))
    await asyncio.sleep(42)
    found = shown(registry)
    assert found['applier_cache_age_seconds{kind="Namespace",namespace=""}'] == 42
    assert (found['applier_cache_lists_total{kind="Namespace",namespace=""}'], found["applier_cache_objects"]) == (1, 2)
    assert found["applier_cache_lag_seconds"] == 0
    await cache.stop()


def test_requests_are_shown_by_verb_and_resource() -> None:
    registry = CollectorRegistry()
    cluster = MemoryCluster()
    cluster.requests = Counter({("apply", "pods"): 3})
    registry.register(RequestMetrics("applier", cluster))
    assert shown(registry)['applier_requests_total{resource="pods",verb="apply"}'] == 3
