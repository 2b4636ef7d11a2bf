"""Whatever happens in whatever order: as soon as the server is reached again, the cache is what the server has."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from applier.cache import WatchCache
from applier.errors import NotFound, ServerFailure, TooManyRequests, Unreachable
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import run_virtual
from tests.suite.effort import runs

from .conftest import CONFIG_MAP, config_map, delete, watching

NAMES = st.sampled_from("abc")
FAULTS = [Unreachable("reset"), ServerFailure(503, "ServiceUnavailable", "away"), TooManyRequests(429, "", "slowly", retry_after=3.0)]
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from("123")),
    st.tuples(st.just("write_ourselves"), NAMES, st.sampled_from("456")),
    st.tuples(st.just("answer")),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("end")),
    st.tuples(st.just("break_off")),
    st.tuples(st.just("stall")),
    st.tuples(st.just("forget")),
    st.tuples(st.just("bookmark")),
    st.tuples(st.just("fault"), st.sampled_from(["watch", "list"]), st.sampled_from(FAULTS), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.0, 0.5, 20.0, 100.0])),
)


class CachedServer:
    """A server, a cache of it, and what can happen to both."""

    def __init__(self, cluster: MemoryCluster, cache: WatchCache) -> None:
        self.cluster, self.cache = cluster, cache
        self.told: dict[Ref, Any] = {}
        self.answers: list[Manifest] = []
        cache.subscribe(lambda ref, _, new: self.told.pop(ref, None) if new is None else self.told.update({ref: new}))

    async def write(self, name: str, value: str) -> None:
        self.cluster.seed(config_map(name, value))

    async def write_ourselves(self, name: str, value: str) -> None:
        resource = self.cluster.kinds.get(CONFIG_MAP)
        self.answers.append(await self.cluster.apply(resource, config_map(name, value), manager="us", force=True))

    async def answer(self) -> None:
        """The answer to one of our writes arrives, however late."""
        if self.answers:
            self.cache.put(self.answers.pop(0))

    async def delete(self, name: str) -> None:
        if self.cluster.find(Ref("", "ConfigMap", "default", name)):
            await delete(self.cluster, name)

    async def end(self) -> None:
        self.cluster.end_watches()

    async def break_off(self) -> None:
        self.cluster.end_watches(Unreachable("reset"))

    async def stall(self) -> None:
        self.cluster.stall_watches()

    async def forget(self) -> None:
        self.cluster.store.forget()

    async def bookmark(self) -> None:
        self.cluster.bookmark()

    async def fault(self, verb: str, error: Exception, after: bool) -> None:
        self.cluster.fail(verb, error, after=after)

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def stored(self) -> dict[Ref, Any]:
        return {ref: manifest for ref, manifest in self.cluster.store.objects.items() if ref.kind == "ConfigMap"}

    def cached(self) -> dict[Ref, Any]:
        return {Ref.of(manifest): manifest for manifest in self.cache.by_label("", "ConfigMap")}


async def live_through(steps: list[tuple[Any, ...]], watch_list: bool) -> None:
    cluster = MemoryCluster(history=4, watch_list=watch_list)
    async with watching(cluster, stall=60.0) as cache:
        world = CachedServer(cluster, cache)
        for step, *arguments in steps:
            try:
                await getattr(world, step)(*arguments)
            except NotFound:
                continue
        while world.answers:
            await world.answer()
        await asyncio.sleep(300)
        assert world.cached() == world.stored()
        assert world.told == world.cached()


@settings(max_examples=runs(300))
@given(st.lists(STEPS, max_size=25), st.booleans())
def test_the_cache_ends_as_the_server_is(steps: list[tuple[Any, ...]], watch_list: bool) -> None:
    run_virtual(live_through(steps, watch_list))
