"""Watches of a cluster in memory, the faults it makes, and what it remembers of requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.cluster import WatchEvent
from applier.errors import Expired, Invalid, Unreachable
from applier.testing.memory import MemoryCluster

from .conftest import config_map, served


async def seen(cluster: MemoryCluster, count: int, **options: Any) -> list[WatchEvent]:
    """The first events of a watch, after it was opened."""
    events = cluster.watch(served(cluster), **options)
    assert (await anext(events)).type == "OPENED"
    return [await anext(events) for _ in range(count)]


def said(events: list[WatchEvent]) -> list[tuple[str, str]]:
    return [(event.type, event.object["metadata"].get("name", "")) for event in events]


async def test_a_watch_continues_from_a_list(cluster: MemoryCluster) -> None:
    cluster.seed(config_map("a"))
    version = (await cluster.list(served(cluster))).resource_version
    made = cluster.seed(config_map("b"))[0]
    cluster.seed(config_map("b", data={"k": "v"}))
    await cluster.delete(served(cluster), "default", "b", uid=made["metadata"]["uid"])
    events = await seen(cluster, 3, resource_version=version)
    assert said(events) == [("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]


async def test_a_watch_list_begins_with_the_state_and_says_where_it_ends(cluster: MemoryCluster) -> None:
    cluster.seed(config_map("a"), config_map("b"))
    events = await seen(cluster, 3, initial=True)
    assert said(events) == [("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", "")]
    assert events[-1].initial_end


async def test_a_server_without_watch_lists_says_so() -> None:
    with pytest.raises(Invalid, match="sendInitialEvents"):
        await seen(MemoryCluster(watch_list=False), 1, initial=True)


async def test_who_leaves_the_selection_is_deleted_and_who_enters_it_is_added(cluster: MemoryCluster) -> None:
    start = str(cluster.store.version)
    cluster.seed(config_map(labels={"in": "1"}), config_map(), config_map(labels={"in": "1"}))
    assert said(await seen(cluster, 3, resource_version=start, labels="in")) == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a")]


async def test_a_watch_of_a_namespace_sees_nothing_of_others(cluster: MemoryCluster) -> None:
    start = str(cluster.store.version)
    cluster.seed(config_map("x", namespace="kube-system"), config_map("a"))
    assert said(await seen(cluster, 1, resource_version=start, namespace="default")) == [("ADDED", "a")]


async def test_a_version_that_is_too_old_is_gone() -> None:
    cluster = MemoryCluster(history=3)
    start = str(cluster.store.version)
    cluster.seed(*(config_map(name) for name in "abcde"))
    with pytest.raises(Expired):
        await seen(cluster, 1, resource_version=start)


async def test_bookmarks_say_how_far_the_history_went(cluster: MemoryCluster) -> None:
    events = cluster.watch(served(cluster), resource_version=str(cluster.store.version))
    assert (await anext(events)).type == "OPENED"
    waiting = asyncio.ensure_future(anext(events))
    while not cluster.store.watchers:
        await asyncio.sleep(0)
    cluster.bookmark()
    assert (await waiting).object["metadata"]["resourceVersion"] == str(cluster.store.version)


async def test_a_broken_stream_says_so(cluster: MemoryCluster) -> None:
    waiting = asyncio.ensure_future(seen(cluster, 1, resource_version=str(cluster.store.version)))
    while not cluster.store.watchers:
        await asyncio.sleep(0)
    cluster.end_watches(Unreachable("the connection broke"))
    with pytest.raises(Unreachable):
        await waiting


async def test_a_request_that_is_to_fail_before_is_not_carried_out(cluster: MemoryCluster) -> None:
    cluster.fail(1, Unreachable("reset"))
    with pytest.raises(Unreachable):
        await cluster.create(served(cluster), config_map(), manager="us")
    assert not [ref for ref in cluster.store.objects if ref.kind == "ConfigMap"]


async def test_a_request_that_is_to_fail_after_is_carried_out(cluster: MemoryCluster) -> None:
    cluster.fail(1, Unreachable("reset", maybe_done=True), after=True)
    with pytest.raises(Unreachable):
        await cluster.create(served(cluster), config_map(), manager="us")
    assert [ref for ref in cluster.store.objects if ref.kind == "ConfigMap"]


async def test_a_fault_is_over_after_its_times(cluster: MemoryCluster) -> None:
    cluster.fail("list", Unreachable("reset"), times=2)
    for _ in range(2):
        with pytest.raises(Unreachable):
            await cluster.list(served(cluster))
    assert (await cluster.list(served(cluster))).items == []


async def test_requests_are_logged_and_counted(cluster: MemoryCluster) -> None:
    await cluster.apply(served(cluster), config_map(), manager="us")
    await cluster.list(served(cluster))
    assert [(request.number, request.verb, str(request.ref)) for request in cluster.writes()] == [(1, "apply", "ConfigMap/default/a")]
    assert cluster.requests == {("apply", "configmaps"): 1, ("list", "configmaps"): 1}


async def test_it_tells_how_many_requests_were_under_way_at_once(cluster: MemoryCluster) -> None:
    await asyncio.gather(*(cluster.list(served(cluster)) for _ in range(5)))
    assert (cluster.most_in_flight, cluster.in_flight) == (5, 0)
