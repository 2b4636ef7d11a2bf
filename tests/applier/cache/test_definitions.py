"""A kind that nobody serves yet is not asked for again and again: its definition tells when it comes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.cache import Query
from applier.cache.source import LOADING
from applier.cluster import Resource, WatchEvent, WrappedCluster
from applier.errors import ApiError, Forbidden, UnknownKind, Unreachable
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import CONFIG_MAP, until, watching

ORDER = Kind("shop.example", "v1", "Order")
HOUR = 3600.0


class Asked(WrappedCluster):
    """Notes when it is asked how an unknown kind is served, in seconds of the loop's clock, and whether it lets definitions be watched."""

    def __init__(self, cluster: MemoryCluster, refuses: ApiError | None = None) -> None:
        super().__init__(cluster)
        self.times: list[float] = []
        self.watched: list[Resource] = []
        self.refuses = refuses
        self.is_loading = False

    async def resource(self, kind: Kind) -> Resource:
        if kind == ORDER:
            self.times.append(asyncio.get_running_loop().time())
            if self.is_loading:
                raise UnknownKind("the server serves no Order of shop.example/v1")
        return await super().resource(kind)

    def watch(self, resource: Resource, *arguments: Any, **options: Any) -> Any:
        self.watched.append(resource)
        if resource.kind.kind == "CustomResourceDefinition" and self.refuses is not None:
            return refused(self.refuses)
        return super().watch(resource, *arguments, **options)


async def refused(error: ApiError) -> Any:
    raise error
    yield WatchEvent("OPENED", {})


def definition(kind: Kind = ORDER) -> Manifest:
    names = {"kind": kind.kind, "plural": f"{kind.kind.lower()}s"}
    spec = {
        "group": kind.group,
        "scope": "Namespaced",
        "names": names,
        "versions": [{"name": kind.version, "served": True, "storage": True}],
    }
    metadata = {"name": f"{names['plural']}.{kind.group}"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}


def optional(cluster: Any) -> Any:
    return watching(cluster, queries=[Query(ORDER, optional=True)])


LONGER = 2 * LOADING
"""Seconds, after which no server that has just started is still loading what is defined."""


@in_virtual_time
async def test_at_rest_it_is_not_asked_for_but_when_the_watch_of_definitions_begins_anew() -> None:
    cluster = Asked(MemoryCluster())
    async with optional(cluster):
        await asyncio.sleep(LONGER)
        before = len(cluster.times), len(cluster.watched)
        await asyncio.sleep(HOUR)
        assert (len(cluster.times), len(cluster.watched)) == before
        assert [one.metadata_only for one in cluster.watched if one.kind.kind == "CustomResourceDefinition"] == [True]


@in_virtual_time
async def test_nor_is_it_asked_for_while_the_server_has_nothing_to_tell_of_definitions() -> None:
    memory = MemoryCluster()
    memory.store.has_progress = False
    cluster = Asked(memory)
    async with optional(cluster) as cache:
        await asyncio.sleep(LONGER)
        before = len(cluster.times), len(cluster.watched)
        await asyncio.sleep(HOUR)
        assert len(cluster.times) == before[0]
        assert len(cluster.watched) > before[1], "a silent watch is begun anew, for its connection may be dead"
        memory.seed(definition())
        await asyncio.sleep(0.1)
        assert cache.unserved() == set()


@in_virtual_time
async def test_it_is_noticed_as_soon_as_it_is_defined() -> None:
    memory = MemoryCluster()
    async with optional(Asked(memory)) as cache:
        await asyncio.sleep(HOUR)
        assert cache.unserved() == {ORDER}
        memory.seed(definition())
        await asyncio.sleep(0.1)
        assert cache.unserved() == set()


@in_virtual_time
async def test_it_is_asked_for_again_while_a_server_may_need_time_to_serve_what_was_defined() -> None:
    cluster = Asked(MemoryCluster())
    async with optional(cluster):
        await asyncio.sleep(HOUR)
        before = len(cluster.times)
        cluster.cluster.seed(definition(ORDER._replace(kind="Another")))  # type: ignore[attr-defined]
        await asyncio.sleep(20)
        assert len(cluster.times) > before + 2
        await asyncio.sleep(HOUR)
        before = len(cluster.times)
        await asyncio.sleep(HOUR)
        assert len(cluster.times) == before


@in_virtual_time
async def test_a_definition_of_another_group_is_no_news() -> None:
    cluster = Asked(MemoryCluster())
    async with optional(cluster):
        await asyncio.sleep(HOUR)
        before = len(cluster.times)
        cluster.cluster.seed(definition(Kind("other.example", "v1", "Thing")))  # type: ignore[attr-defined]
        await asyncio.sleep(HOUR)
        assert len(cluster.times) == before


@in_virtual_time
async def test_it_is_asked_for_after_the_server_was_away_for_it_may_be_a_newer_one() -> None:
    memory = MemoryCluster()
    cluster = Asked(memory)
    async with optional(cluster):
        await asyncio.sleep(HOUR)
        before = len(cluster.times)
        memory.end_watches(Unreachable("the connection was reset"))
        await asyncio.sleep(60)
        assert len(cluster.times) > before


@in_virtual_time
async def test_it_is_known_again_soon_after_a_server_has_started_and_loads_what_is_defined() -> None:
    memory = MemoryCluster()
    memory.seed(definition())
    cluster = Asked(memory)
    async with optional(cluster) as cache:
        await asyncio.sleep(HOUR)
        cluster.is_loading = True
        memory.end_watches(Unreachable("the connection was reset"))
        await asyncio.sleep(20)
        assert cache.unserved() == {ORDER}
        cluster.is_loading = False
        await asyncio.sleep(30)
        assert cache.unserved() == set()


@in_virtual_time
async def test_it_is_known_soon_after_a_server_has_loaded_it_that_has_started_with_us() -> None:
    """The definition is there and does not change, and the server takes longer than after a change of one."""
    memory = MemoryCluster()
    memory.seed(definition())
    cluster = Asked(memory)
    cluster.is_loading = True
    async with optional(cluster) as cache:
        await asyncio.sleep(90)
        assert cache.unserved() == {ORDER}
        cluster.is_loading = False
        await asyncio.sleep(30)
        assert cache.unserved() == set()


@in_virtual_time
async def test_it_is_not_asked_for_any_more_once_it_has_not_been_served_for_minutes() -> None:
    memory = MemoryCluster()
    memory.seed(definition())
    cluster = Asked(memory)
    async with optional(cluster):
        await asyncio.sleep(HOUR)
        cluster.is_loading = True
        memory.end_watches(Unreachable("the connection was reset"))
        await asyncio.sleep(300)
        before = len(cluster.times)
        await asyncio.sleep(HOUR)
        assert len(cluster.times) == before


@pytest.mark.parametrize("refuses", [Forbidden(403, "Forbidden", "no")])
@in_virtual_time
async def test_who_may_not_watch_definitions_asks_every_half_minute(refuses: ApiError) -> None:
    memory = MemoryCluster()
    cluster = Asked(memory, refuses)
    async with optional(cluster) as cache:
        await asyncio.sleep(HOUR)
        assert max(after - before for before, after in zip(cluster.times, cluster.times[1:], strict=False)) <= 30.0
        memory.seed(definition())
        await asyncio.sleep(30)
        assert cache.unserved() == set()


@in_virtual_time
async def test_who_waits_for_nothing_watches_no_definitions() -> None:
    cluster = Asked(MemoryCluster())
    async with watching(cluster, CONFIG_MAP):
        await asyncio.sleep(HOUR)
    assert {one.kind for one in cluster.watched} == {CONFIG_MAP}


@in_virtual_time
async def test_definitions_are_no_objects_of_the_cache() -> None:
    memory = MemoryCluster()
    memory.seed(definition(Kind("other.example", "v1", "Thing")))
    async with optional(Asked(memory)) as cache:
        told: list[Any] = []
        cache.subscribe(lambda *change: told.append(change))
        await asyncio.sleep(60)
        memory.seed(definition(Kind("other.example", "v1", "More")))
        await asyncio.sleep(60)
        assert cache.count() == 0
        assert told == []
        await until(lambda: cache.unserved() == {ORDER})
