"""The state and every change of it, whatever becomes of the streams."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
import pytest_asyncio

from applier.cluster import Listing, Resource, WatchEvent
from applier.errors import Expired, Forbidden, ServerFailure, TooManyRequests, Unreachable
from applier.ref import Kind, Manifest
from applier.reflector import list_and_watch
from applier.testing.memory import MemoryCluster

CONFIG_MAPS = Resource(Kind("", "v1", "ConfigMap"), "configmaps", True)
PASSING = [Unreachable("reset"), TooManyRequests(429, "TooManyRequests", "busy"), ServerFailure(503, "ServiceUnavailable", "busy")]


def config(name: str, **labels: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", "labels": labels}}


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


class Heard:
    """What is told, in words: names of a state, and changes as `+name`, `~name` or `-name`."""

    def __init__(self, told: AsyncIterator[Listing | WatchEvent]) -> None:
        self.told = told

    async def next(self) -> Any:
        news = await anext(self.told)
        if isinstance(news, Listing):
            return sorted(item["metadata"]["name"] for item in news.items)
        return {"ADDED": "+", "MODIFIED": "~", "DELETED": "-"}[news.type] + news.object["metadata"]["name"]


@pytest_asyncio.fixture
async def heard(cluster: MemoryCluster) -> AsyncIterator[Heard]:
    cluster.seed(config("a"))
    async with aclosing(list_and_watch(cluster, CONFIG_MAPS, "default")) as told:
        yield Heard(told)


async def test_the_state_comes_first_and_then_its_changes(cluster: MemoryCluster, heard: Heard) -> None:
    assert await heard.next() == ["a"]
    cluster.seed(config("b"))
    cluster.seed(config("a", changed="yes"))
    assert [await heard.next(), await heard.next()] == ["+b", "~a"]


@pytest.mark.parametrize("error", [None, *PASSING], ids=lambda error: type(error).__name__)
async def test_a_stream_that_ends_is_taken_up_where_it_stopped(cluster: MemoryCluster, heard: Heard, error: Exception | None) -> None:
    await heard.next()
    cluster.seed(config("b"))
    assert await heard.next() == "+b"
    cluster.end_watches(error)
    cluster.seed(config("c"))
    assert await heard.next() == "+c"
    assert cluster.requests["list", "configmaps"] == 1


async def test_the_state_is_told_anew_when_history_is_lost(cluster: MemoryCluster, heard: Heard) -> None:
    await heard.next()
    cluster.seed(config("b"))
    await heard.next()
    cluster.end_watches(Expired(410, "Expired", "too old"))
    assert await heard.next() == ["a", "b"]


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_a_server_in_trouble_is_asked_again(cluster: MemoryCluster, heard: Heard, verb: str, error: Exception) -> None:
    cluster.fail(verb, error, times=2)
    assert await heard.next() == ["a"]
    cluster.seed(config("b"))
    assert await heard.next() == "+b"


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_a_server_that_refuses_is_an_error(cluster: MemoryCluster, heard: Heard, verb: str) -> None:
    cluster.fail(verb, Forbidden(403, "Forbidden", "no"))
    with pytest.raises(Forbidden):
        await heard.next()
        await heard.next()


async def test_only_what_matches_is_told(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", app="web"), config("b"))
    async with aclosing(list_and_watch(cluster, CONFIG_MAPS, "default", labels="app=web")) as told:
        heard = Heard(told)
        assert await heard.next() == ["a"]
        cluster.seed(config("c"), config("d", app="web"))
        assert await heard.next() == "+d"
