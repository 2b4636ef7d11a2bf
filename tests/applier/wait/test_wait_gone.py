"""Waiting until deleted objects are gone, on a cluster in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.events import Event, Waiting
from applier.outcome import Obstacle
from applier.ref import Manifest, Ref, uid_of
from applier.testing.memory import MemoryCluster, MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from applier.wait import wait_gone, what_keeps
from applier.wait.gone import QUIET

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
    seen = asyncio.get_running_loop()

    async def remove(request: MemoryRequest) -> None:
        if request.verb == "watch":
            seen.call_soon(cluster.store.remove, Ref.of(live))

    cluster.before = remove
    assert await wait_gone([live], cluster, seconds=LATE) == {}


def held(cluster: MemoryCluster) -> Manifest:
    [live] = cluster.seed(config("a", deletionTimestamp=SINCE, finalizers=["example.org/hold"]))
    return live


@in_virtual_time
async def test_what_does_not_go_in_a_moment_is_told_with_its_reason_and_again_when_that_changes() -> None:
    cluster, loop = MemoryCluster(), asyncio.get_running_loop()
    live = held(cluster)
    said: list[tuple[float, Event]] = []
    loop.call_later(10, lambda: cluster.seed(config("a", deletionTimestamp=SINCE, finalizers=["b/c"], uid=uid_of(live))))
    await wait_gone([live], cluster, seconds=LATE, sink=lambda event: said.append((loop.time(), event)))
    waits = [Waiting(Ref.of(live), f"waits for finalizer {name}") for name in ("example.org/hold", "b/c")]
    assert said == [(QUIET, waits[0]), (10, waits[1])]


@in_virtual_time
async def test_what_goes_in_a_moment_is_not_told() -> None:
    cluster, said = MemoryCluster(), list[Event]()
    live = held(cluster)
    asyncio.get_running_loop().call_later(QUIET / 2, cluster.store.remove, Ref.of(live))
    assert await wait_gone([live], cluster, seconds=LATE, sink=said.append) == {}
    assert said == []


async def test_another_object_of_the_same_name_is_not_waited_for(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.store.remove(Ref.of(live))
    cluster.seed(config("a"))
    assert await wait_gone([live], cluster, seconds=LATE) == {}


async def test_what_stays_is_told_with_its_reason(cluster: MemoryCluster) -> None:
    live = cluster.seed(config("a", deletionTimestamp=SINCE, finalizers=["example.org/hold"]), config("b"))
    assert await wait_gone(live, cluster, seconds=SOON) == {
        Ref.of(live[0]): ("waits for finalizer example.org/hold", Obstacle.FINALIZERS),
        Ref.of(live[1]): ("is not being deleted", Obstacle.NONE),
    }


REMAINING = "Some resources are remaining: configmaps. has 1 resource instances"


def test_what_keeps_a_namespace_is_what_its_controller_says() -> None:
    conditions = [
        {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "All content successfully deleted"},
        {"type": "NamespaceContentRemaining", "status": "True", "message": REMAINING},
    ]
    live = {"kind": "Namespace", "metadata": {"name": "a", "deletionTimestamp": SINCE}, "status": {"conditions": conditions}}
    assert what_keeps(live).reason == f"waits for its contents: {REMAINING}"


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "is not being deleted"),
        ({"finalizers": ["a/b"]}, "is not being deleted"),
        ({"deletionTimestamp": SINCE}, f"has been terminating since {SINCE}"),
        ({"deletionTimestamp": SINCE, "deletionGracePeriodSeconds": 30}, f"has 30 seconds of grace period, until {SINCE}"),
        ({"deletionTimestamp": SINCE, "finalizers": ["a/b", "c/d"]}, "waits for finalizers a/b, c/d"),
    ],
)
def test_what_keeps_an_object_is_said(metadata: dict[str, Any], said: str) -> None:
    assert what_keeps(config("a", **metadata)).reason == said
