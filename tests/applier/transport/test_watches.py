"""Watches: what they ask for, what they give, and how they end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from applier.cluster import WatchEvent
from applier.errors import ApiError, Expired, Invalid, Unreachable
from applier.transport import ApiCluster
from applier.transport.retries import Retries
from tests.connecting import connect_to

from .scripted import CONFIG_MAPS, Answer, Scripted, config_map, lines, raised, status

PATH = "/api/v1/namespaces/ns/configmaps"


def event(type: str, name: str = "a", version: str = "5") -> dict[str, Any]:
    return {"type": type, "object": config_map(name, resourceVersion=version)}


def bookmark(version: str = "9", *, ends: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"resourceVersion": version} | ({"annotations": {"k8s.io/initial-events-end": "true"}} if ends else {})
    return {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}}


async def watched(cluster: ApiCluster, **how: Any) -> list[WatchEvent]:
    """What the server tells after it has taken the watch."""
    async with aclosing(cluster.watch(CONFIG_MAPS, "ns", **how)) as events:
        return [one async for one in events if one.type != "OPENED"]


def said(events: list[WatchEvent]) -> list[tuple[str, str, bool]]:
    return [(one.type, one.object["metadata"].get("name", ""), one.initial_end) for one in events]


async def test_changes_come_in_order_until_the_server_ends_them(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, lines(event("ADDED"), event("MODIFIED"), event("DELETED"), bookmark())))
    assert [one.type for one in await watched(cluster, resource_version="4")] == ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


async def test_a_watch_goes_on_from_a_version(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, ""))
    await watched(cluster, resource_version="4", labels="app=a")
    query = server.heard[0].query
    seconds = int(query.pop("timeoutSeconds"))
    assert query == {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": "4", "labelSelector": "app=a"}
    assert 300 <= seconds <= 600


async def test_a_watch_that_starts_with_the_state_asks_for_it(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, lines(event("ADDED"), bookmark(ends=True), event("MODIFIED"))))
    assert said(await watched(cluster, initial=True)) == [("ADDED", "a", False), ("BOOKMARK", "", True), ("MODIFIED", "a", False)]
    query = server.heard[0].query
    assert (query["sendInitialEvents"], query["resourceVersionMatch"]) == ("true", "NotOlderThan")


REFUSES = status(
    422, "Invalid", "ListOptions is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless enabled"
)


async def test_a_server_that_does_not_start_with_the_state_says_so(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, REFUSES)
    assert isinstance(await raised(lambda: watched(cluster, initial=True)), Invalid)


TOO_OLD = {
    "as a status": status(410, "Expired", "too old resource version: 1 (9)"),
    "as an event": Answer(
        200, lines({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}})
    ),
    "as an event of an old server": Answer(
        200, lines({"type": "ERROR", "object": {"kind": "Status", "code": 500, "message": "too old resource version: 1 (9)"}})
    ),
}


@pytest.mark.parametrize("answer", TOO_OLD.values(), ids=TOO_OLD)
async def test_a_version_that_is_too_old_is_gone(answer: Answer, server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, answer)
    assert isinstance(await raised(lambda: watched(cluster, resource_version="1")), Expired)


async def test_another_error_event_is_that_error(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, lines({"type": "ERROR", "object": {"kind": "Status", "code": 500, "message": "etcd is away"}})))
    error = await raised(lambda: watched(cluster, resource_version="1"))
    assert isinstance(error, ApiError)
    assert str(error) == "the server failed (500): etcd is away"


BREAKS = {
    "the connection breaks": Answer(200, lines(event("ADDED")), broken=True),
    "the connection breaks in an event": Answer(200, lines(event("ADDED")) + '{"type": "MOD', broken=True),
    "an event is no JSON": Answer(200, lines(event("ADDED")) + "<html>\n"),
}


@pytest.mark.parametrize("answer", BREAKS.values(), ids=BREAKS)
async def test_a_stream_that_breaks_is_unreachable(answer: Answer, server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, answer)
    assert isinstance(await raised(lambda: watched(cluster, resource_version="1")), Unreachable)


@pytest.mark.parametrize("answer", BREAKS.values(), ids=BREAKS)
async def test_what_came_before_a_break_is_given(answer: Answer, server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, answer)
    events = cluster.watch(CONFIG_MAPS, "ns", resource_version="1")
    assert [(await anext(events)).type for _ in range(2)] == ["OPENED", "ADDED"]
    await events.aclose()


async def test_a_stream_that_falls_silent_is_unreachable(server: Scripted) -> None:
    server.on("GET", PATH, Answer(200, lines(event("ADDED")), hangs=True))
    async with connect_to(server.url, retries=Retries(stall=0.05)) as cluster:
        assert isinstance(await raised(lambda: watched(cluster, resource_version="1")), Unreachable)


async def test_a_watch_on_a_busy_server_is_opened_again(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, status(429, "TooManyRequests", "busy"), Answer(200, lines(event("ADDED"))))
    assert len(await watched(cluster, resource_version="1")) == 1


async def test_a_watch_that_is_left_early_ends_its_connection(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, lines(event("ADDED")), hangs=True))
    async with aclosing(cluster.watch(CONFIG_MAPS, "ns", initial=True)) as events:
        await anext(events)
    while cluster.wire.connections:
        await asyncio.sleep(0)
