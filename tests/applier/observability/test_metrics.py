"""Metrics count what happened and show how queue, cache and requests stand."""

from __future__ import annotations

import asyncio
from collections import Counter

from prometheus_client import CollectorRegistry, generate_latest

from applier.cache import WatchCache
from applier.loop import WorkQueue
from applier.observability.metrics import Metrics
from applier.ref import Kind
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time
from tests.suite.rows import rows

from .conftest import RUN


def shown(registry: CollectorRegistry) -> dict[str, float]:
    """Samples by name and labels as Prometheus reads them."""
    lines = generate_latest(registry).decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@rows(
    ("sample", "value"),
    [
        ('applier_objects_total{action="created",kind="Secret"}', 1),
        ('applier_objects_total{action="failed",kind="Deployment"}', 1),
        ('applier_objects_total{action="unchanged",kind="ConfigMap"}', 1),
        ('applier_write_seconds_count{action="created"}', 1),
        ('applier_write_seconds_sum{action="failed"}', 0.25),
        ("applier_ready_seconds_sum", 3.0),
        ("applier_run_seconds_sum", 4.5),
        ("applier_run_requests_total", 7),
        ("applier_retries_total", 1),
        ("applier_throttles_total", 1),
    ],
)
def test_a_run_is_counted(sample: str, value: float) -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    for event in RUN:
        metrics(event)
    assert shown(registry)[sample] == value


@in_virtual_time
async def test_a_queue_is_shown_as_it_stands() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    queue = WorkQueue[str](on_wait=metrics.queue_wait, on_work=metrics.queue_work)
    metrics.watch_queue(queue)
    queue.add("a")
    queue.add("b")
    queue.add_after("c", 60)
    await asyncio.sleep(2)
    await queue.get()
    found = shown(registry)
    assert [
        found[f'applier_queue_{name}{{queue="main"}}'] for name in ("keys_waiting", "keys_in_work", "keys_delayed", "oldest_seconds")
    ] == [1, 1, 1, 2]
    assert found["applier_queue_wait_seconds_sum"] == 2.0


@in_virtual_time
async def test_a_cache_shows_how_old_it_is() -> None:
    registry = CollectorRegistry()
    cluster = MemoryCluster()
    cache = WatchCache(cluster, [(Kind("", "v1", "Namespace"), "")])
    await cache.start()
    await cache.synced()
    Metrics(registry).watch_cache(cache)
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
    Metrics(registry).watch_requests(cluster)
    assert shown(registry)['applier_requests_total{resource="pods",verb="apply"}'] == 3
