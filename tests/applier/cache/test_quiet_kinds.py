"""What a cache knows of a kind to which nothing happens, and of which its server therefore says nothing."""

from __future__ import annotations

import asyncio

from applier.errors import Unreachable
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import config_map, names, until, watching


@in_virtual_time
async def test_who_has_just_begun_to_lead_waits_for_a_word_of_the_server_that_is_newer_than_that() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map())
    async with watching(cluster, watch_list=False) as cache:
        await asyncio.sleep(5)
        leads_since = asyncio.get_running_loop().time()
        cluster.end_watches()
        await asyncio.sleep(5)
        assert cache.staleness([("", "ConfigMap")], leads_since), "a watch that is taken says nothing of what others wrote before"
        cluster.bookmark()
        await until(lambda: not cache.staleness([("", "ConfigMap")], leads_since))


@in_virtual_time
async def test_streams_that_have_told_nothing_for_minutes_are_opened_again_at_once() -> None:
    """Else changes of a kind to which nothing had happened for hours were heard of half a minute late."""
    cluster = MemoryCluster()
    cluster.store.has_progress = False
    async with watching(cluster) as cache:
        for _ in range(20):
            await asyncio.sleep(110)
            cluster.end_watches()
        cluster.seed(config_map())
        await until(lambda: names(cache) == ["a"], 1)


@in_virtual_time
async def test_what_is_in_doubt_for_silence_alone_is_known_as_soon_as_somebody_asks() -> None:
    cluster = MemoryCluster()
    cluster.store.has_progress = False
    cluster.seed(config_map())
    kinds = [("", "ConfigMap")]
    async with watching(cluster, stall=60.0) as cache:
        await asyncio.sleep(600)
        assert cache.staleness(kinds)
        cache.refresh(kinds)
        await until(lambda: not cache.staleness(kinds), 1)
        assert names(cache) == ["a"]


@in_virtual_time
async def test_a_stream_that_we_reopen_for_a_fresh_state_does_not_count_as_broken() -> None:
    """Whoever waits for a definition takes a break for a sign of an upgraded server."""
    cluster = MemoryCluster()
    cluster.store.has_progress = False
    kinds = [("", "ConfigMap")]
    async with watching(cluster, stall=60.0) as cache:
        [source] = cache.sources()
        await asyncio.sleep(600)
        streams, breaks = source.streams, source.breaks
        cache.refresh(kinds)
        await until(lambda: not cache.staleness(kinds), 1)
        assert (source.streams, source.breaks) == (streams + 1, breaks)
        cluster.end_watches()
        await until(lambda: source.breaks == breaks + 1, 1)


@in_virtual_time
async def test_who_asks_about_what_is_in_no_doubt_asks_the_server_nothing() -> None:
    cluster = MemoryCluster()
    async with watching(cluster) as cache:
        await asyncio.sleep(30)
        cache.refresh([("", "ConfigMap")])
        await asyncio.sleep(30)
        assert cluster.requests["watch", "configmaps"] == 1


@in_virtual_time
async def test_a_fresh_state_may_be_asked_for_at_the_moment_in_which_a_silent_stream_is_given_up() -> None:
    cluster, loop, errors = MemoryCluster(), asyncio.get_running_loop(), list[Exception]()
    cluster.store.has_progress = False
    kinds = [("", "ConfigMap")]

    def ask() -> None:
        try:
            cache.refresh(kinds, loop.time())
        except RuntimeError as error:
            errors.append(error)

    async with watching(cluster, stall=60.0) as cache:
        for moment in range(1, 70):
            loop.call_at(float(moment), ask)
        await asyncio.sleep(70)
        assert errors == []
        assert not cache.staleness(kinds)


@in_virtual_time
async def test_a_stream_that_was_silent_for_too_long_is_opened_again_without_a_pause() -> None:
    cluster = MemoryCluster()
    cluster.store.has_progress = False
    async with watching(cluster, stall=60.0) as cache:
        await asyncio.sleep(60.1)
        cluster.seed(config_map())
        await until(lambda: names(cache) == ["a"], 0.2)


@in_virtual_time
async def test_who_waits_for_a_current_state_is_told_once_when_it_is_there() -> None:
    """No event would say so, where nothing has changed."""
    cluster, told = MemoryCluster(), list[float]()
    cluster.store.has_progress = False
    async with watching(cluster, stall=60.0) as cache:
        cache.subscribe_current(lambda: told.append(asyncio.get_running_loop().time()))
        await asyncio.sleep(90)
        told.clear()
        cache.refresh([("", "ConfigMap")])
        await asyncio.sleep(20)
        assert len(told) == 1


@in_virtual_time
async def test_who_waits_for_a_current_state_is_told_when_the_server_answers_again() -> None:
    cluster, told = MemoryCluster(), list[bool]()
    async with watching(cluster) as cache:
        unsubscribe = cache.subscribe_current(lambda: told.append(not cache.staleness([("", "ConfigMap")])))
        cluster.fail(lambda request: request.verb == "watch", Unreachable("no route"), times=3)
        cluster.end_watches()
        await asyncio.sleep(60)
        assert told == [True]
        unsubscribe()
        cluster.fail(lambda request: request.verb == "watch", Unreachable("no route"))
        cluster.end_watches()
        await asyncio.sleep(60)
        assert told == [True]
