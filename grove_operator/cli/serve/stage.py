"""Keeps the scene of a cluster up to date, for all who look at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from applier.cache import Query, WatchCache
from applier.errors import NotSynced
from applier.ref import Manifest
from grove_operator.cli.operator.read_objects import EVENT
from grove_operator.cli.serve.scene import Scene, Seen

SETTLE = 0.25
"""Seconds in which changes are collected before the scene is drawn again."""
LONGEST = 15.0
"""Seconds after which it is drawn again all the same: that a watch has broken is no change of an object."""

T = TypeVar("T")
R = TypeVar("R")
Look = Callable[[], Seen]
Draw = Callable[[Seen], Scene]


class Stage:
    """Holds the newest scene. `draw` runs aside, since a thousand objects take a moment."""

    def __init__(self, look: Look, draw: Draw) -> None:
        self._look, self._draw = look, draw
        self._changed = asyncio.Event()
        self._redrawn = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, "scene")  # one: rules of one program are never evaluated twice at once
        self.seen = look()
        self.scene = draw(self.seen)

    def change(self, *_: object) -> None:
        """Hears that something has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Draws again whenever something has changed, until it is cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LONGEST)
                await asyncio.sleep(SETTLE)
            self._changed.clear()
            self.seen = self._look()
            scene = await self.aside(self._draw, self.seen)
            if (scene.id, scene.rows, scene.notes) != (self.scene.id, self.scene.rows, self.scene.notes):
                async with self._redrawn:
                    self.scene = scene
                    self._redrawn.notify_all()

    async def aside(self, work: Callable[[T], R], of: T) -> R:
        """Carries out what evaluates rules, and lets the event loop go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, of)

    async def scenes(self, heartbeat: float) -> AsyncIterator[Scene | None]:
        """Yields the scene and each one that follows; none where nothing has changed for so many seconds. Who is slow misses some."""
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


def watching(cache: WatchCache, wanted: list[Query]) -> Look:
    """Returns what looks at all that a cache knows of some kinds."""

    def look() -> Seen:
        unserved = frozenset(cache.unserved())
        served = [one for one in wanted if one.kind not in unserved]
        objects: list[Manifest] = []
        for one in served:
            with suppress(NotSynced):  # of a kind that was just installed; it is told as a doubt
                objects += cache.by_label(one.kind.group, one.kind.kind, "", one.namespace)
        return Seen(objects, unserved, cache.staleness((one.kind.group, one.kind.kind) for one in served if one.kind != EVENT))

    return look


def still(seen: Seen) -> Look:
    """Returns what always sees the same."""
    return lambda: seen
