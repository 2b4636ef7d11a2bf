"""What enters and leaves the selection of a watch: who leaves is shown as deleted, and yet may come back."""

from __future__ import annotations

import asyncio

from applier.cache import Query
from applier.cache.watch_cache import UNSELECTED_FOR
from applier.cache.write_through import WriteThrough
from applier.ref import Kind, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import CONFIG_MAP, config_map, names, until, watching

OURS, THEIRS = config_map(labels={"app": "ours"}), config_map(labels={})
SELECTED = (Query(CONFIG_MAP, labels="app=ours"),)


@in_virtual_time
async def test_an_object_that_has_left_a_selection_is_seen_when_it_enters_it_again() -> None:
    cluster = MemoryCluster()
    cluster.seed(OURS)
    async with watching(cluster, queries=SELECTED) as cache:
        cluster.seed(THEIRS)
        await until(lambda: names(cache) == [])
        cluster.seed(OURS)
        await until(lambda: names(cache) == ["a"], 1)


@in_virtual_time
async def test_so_it_is_where_it_left_while_nobody_watched() -> None:
    cluster = MemoryCluster()
    cluster.seed(OURS)
    async with watching(cluster, queries=SELECTED) as cache:
        cluster.end_watches()
        cluster.seed(THEIRS)
        cluster.store.forget()
        await until(lambda: names(cache) == [])
        cluster.seed(OURS)
        await until(lambda: names(cache) == ["a"], 1)


@in_virtual_time
async def test_and_where_we_have_put_it_back_ourselves() -> None:
    cluster = MemoryCluster()
    cluster.seed(OURS)
    async with watching(cluster, queries=SELECTED) as cache:
        cluster.seed(THEIRS)
        await until(lambda: names(cache) == [])
        resource = await cluster.resource(Kind("", "v1", "ConfigMap"))
        cluster.stall_watches()
        await WriteThrough(cluster, cache).patch(resource, "default", "a", {"metadata": {"labels": {"app": "ours"}}})
        assert names(cache) == ["a"]


@in_virtual_time
async def test_an_answer_that_comes_after_the_end_of_an_object_does_not_bring_it_back() -> None:
    cluster = MemoryCluster()
    [late] = cluster.seed(OURS)
    async with watching(cluster, queries=SELECTED) as cache:
        cluster.store.remove(next(ref for ref in cluster.store.objects if ref.name == "a"))
        await until(lambda: names(cache) == [])
        cache.put(late)
        await asyncio.sleep(1)
        assert names(cache) == []


@in_virtual_time
async def test_what_is_not_selected_is_known_for_a_moment_after_it_was_read_for_nobody_tells_of_its_end() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, queries=SELECTED) as cache:
        [theirs] = cluster.seed(THEIRS)
        resource = await cluster.resource(Kind("", "v1", "ConfigMap"))
        assert cache.get(Ref.of(theirs)) is None
        await WriteThrough(cluster, cache).get(resource, "default", "a")
        assert cache.get(Ref.of(theirs)) == theirs
        assert names(cache) == []
        await asyncio.sleep(UNSELECTED_FOR)
        assert cache.get(Ref.of(theirs)) is None
