"""Waiting until deleted objects are gone, on a cluster in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.events import Event, Waiting
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.wait import wait_gone, what_keeps

SOON, LATE = 0.05, 30.0
SINCE = "2026-01-01T00:00:00Z"


def config(name: str, **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **metadata}}


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def test_what_is_gone_is_not_waited_for(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.store.remove(Ref.of(live))
    assert await wait_gone([live], cluster, seconds=LATE) == {}


async def test_nothing_is_waited_for_without_a_request(cluster: MemoryCluster) -> None:
    assert await wait_gone([], cluster, seconds=LATE) == {}
    assert cluster.log == []


async def test_the_wait_ends_when_the_object_goes(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a", deletionTimestamp=SINCE, finalizers=["example.org/hold"]))
    said: list[Event] = []

    def sink(event: Event) -> None:
        said.append(event)
        asyncio.get_running_loop().call_soon(cluster.store.remove, Ref.of(live))

    assert await wait_gone([live], cluster, seconds=LATE, sink=sink) == {}
    assert said == [Waiting(Ref.of(live), "waits for finalizer example.org/hold")]


async def test_another_object_of_the_same_name_is_not_waited_for(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.store.remove(Ref.of(live))
    cluster.seed(config("a"))
    assert await wait_gone([live], cluster, seconds=LATE) == {}


async def test_what_stays_is_told_with_its_reason(cluster: MemoryCluster) -> None:
    live = cluster.seed(config("a", deletionTimestamp=SINCE, finalizers=["example.org/hold"]), config("b"))
    assert await wait_gone(live, cluster, seconds=SOON) == {
        Ref.of(live[0]): "waits for finalizer example.org/hold",
        Ref.of(live[1]): "is not being deleted",
    }


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "is not being deleted"),
        ({"finalizers": ["a/b"]}, "is not being deleted"),
        ({"deletionTimestamp": SINCE}, f"is being deleted since {SINCE}"),
        ({"deletionTimestamp": SINCE, "deletionGracePeriodSeconds": 30}, f"has 30 seconds of grace, until {SINCE}"),
        ({"deletionTimestamp": SINCE, "finalizers": ["a/b", "c/d"]}, "waits for finalizers a/b, c/d"),
    ],
)
def test_what_keeps_an_object_is_said(metadata: dict[str, Any], said: str) -> None:
    assert what_keeps(config("a", **metadata)) == said
