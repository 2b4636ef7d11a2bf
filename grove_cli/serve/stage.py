"""Keeps the scene of a cluster up to date for all browsers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from applier.cache import Query, WatchCache
from applier.cache.snapshot import as_one
from applier.cluster import Cluster
from applier.errors import Forbidden, NotSynced, UnknownKind
from applier.ref import EVENT, Manifest
from grove_cli.serve.scene import Scene, SceneObjects
from grove_compiler.decoder import SET_KIND
from kube_objects.words import listed

SETTLE = 0.25
"""Seconds in which changes are collected before the scene is drawn again."""
MAX_SECONDS = 15.0
"""Seconds after which it is drawn again without a change, as a broken watch is not reported as one."""

T = TypeVar("T")
R = TypeVar("R")
Source = Callable[[], SceneObjects]
Draw = Callable[[SceneObjects], Scene]


class Stage:
    """Holds the newest scene. `draw` runs in a thread, as it takes long for a thousand objects."""

    def __init__(self, source: Source, draw: Draw) -> None:
        self._source, self._draw = source, draw
        self._changed = asyncio.Event()
        self._redrawn = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, "scene")  # one, as the rules of a program are not evaluated concurrently
        self.snapshot = source()
        self.scene = draw(self.snapshot)

    def change(self, *_: object) -> None:
        """Requests another drawing, after a change."""
        self._changed.set()

    async def run(self) -> None:
        """Draws again after changes, until it is cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), MAX_SECONDS)
                await asyncio.sleep(SETTLE)
            self._changed.clear()
            self.snapshot = self._source()
            scene = await self.in_thread(self._draw, self.snapshot)
            if (scene.id, scene.rows, scene.notes) != (self.scene.id, self.scene.rows, self.scene.notes):
                async with self._redrawn:
                    self.scene = scene
                    self._redrawn.notify_all()

    async def in_thread(self, work: Callable[[T], R], argument: T) -> R:
        """Calls a function that evaluates rules in the thread, so that the event loop is not blocked."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, argument)

    async def scenes(self, heartbeat: float) -> AsyncIterator[Scene | None]:
        """Yields the current and each later scene, and none after `heartbeat` seconds without a change. Slow readers skip scenes."""
        last: Scene | None = None
        while True:
            if last is self.scene:
                async with self._redrawn:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._redrawn.wait(), heartbeat)
            if last is self.scene:
                yield None
            else:
                last = self.scene
                yield last


@asynccontextmanager
async def readable(cluster: Cluster, watches: Sequence[Query]) -> AsyncIterator[tuple[WatchCache, Sequence[Query]]]:
    """Yields a synced cache of these kinds, except for those that may not be read, and the watches that it has.

    Raises `ClusterError`, also where PodCliqueSets may not be read.
    """
    cache = WatchCache(cluster, watches)
    try:
        await cache.start()
        if errors := await cache.settled():
            forbidden = {error.missing[1] for error in errors if isinstance(error, Forbidden)}
            names = {watch: await _resource_name(cluster, watch) for watch in watches}
            watches = [watch for watch in watches if names[watch] not in forbidden]
            if len(forbidden) < len(errors) or not any(watch.kind.kind == SET_KIND for watch in watches):
                raise as_one(errors)
            await cache.stop()
            cache = WatchCache(cluster, watches)
            await cache.start()
            await cache.synced()
        yield cache, watches
    finally:
        await cache.stop()


async def _resource_name(cluster: Cluster, watch: Query) -> str:
    """Returns how errors about missing rights call a kind; empty for one that is not served."""
    try:
        return (await cluster.resource(watch.kind)).name
    except UnknownKind:
        return ""


def live_source(cache: WatchCache, watches: Sequence[Query], unread: Sequence[str] = ()) -> Source:
    """Returns a source of the objects of a cache. `unread` is what may not be read besides."""

    def snapshot() -> SceneObjects:
        unserved = frozenset(cache.unserved())
        served = [watch for watch in watches if watch.kind not in unserved]
        objects: list[Manifest] = []
        for watch in served:
            with suppress(NotSynced):  # of a kind that was just installed; `doubts` reports it
                objects += cache.by_label(watch.kind.group, watch.kind.kind, "", watch.namespace)
        kinds = ((watch.kind.group, watch.kind.kind) for watch in served if watch.kind != EVENT)
        doubts = [f"you may not read {listed(unread)}"] if unread else []
        return SceneObjects(objects, unserved, [*doubts, *cache.staleness(kinds)], unread=unread)

    return snapshot
