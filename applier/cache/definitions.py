"""Watches CustomResourceDefinitions, so that waiting for a kind that is not served yet needs no polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from applier.cache.objects import Objects
from applier.cache.snapshot import Wanted
from applier.cache.source import Silent, Source
from applier.ref import DEFINITION_KIND, Manifest, Ref

SETTLING = 30.0
"""Seconds after a change of a definition in which the server may begin to serve its kind, without another event."""


class Definitions:
    """Watches the metadata of all definitions, beginning when a kind is first waited for.

    `listener` makes the source that watches them, into objects of its own, since definitions belong to no graph. Where they cannot be
    watched, as without permission, waiting falls back to polling.
    """

    def __init__(self, listener: Callable[[Wanted, Objects], Source]) -> None:
        self._listener = listener
        self._source: Source | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed: dict[str, float] = {}  # by group: when, on the loop's clock, a definition of it last changed
        self._news: dict[str, asyncio.Event] = {}  # by group: set with the next change

    async def change(self, group: str, seconds: float) -> bool:
        """Returns True when a definition of a group changes, and False after some seconds if one may have changed unnoticed.

        A watch that broke may have been resumed with an upgraded server, which serves more built-in kinds. One that was only silent missed
        nothing: definitions change so seldom that a server may have nothing to tell of them for ten minutes.
        """
        source = self._source or self._follow()
        news, breaks = self._news.setdefault(group, asyncio.Event()), source.breaks
        while True:
            try:
                # Not `wait_for`: before Python 3.12 it loses a cancellation that coincides with the event, and the task never ends.
                async with asyncio.timeout(seconds):
                    await news.wait()
                return True
            except TimeoutError:
                if source.breaks != breaks or not self._all_is_heard(source, group):
                    return False

    async def stop(self) -> None:
        """Stops the watch."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _follow(self) -> Source:
        objects = Objects()
        objects.subscribers[self._note] = None
        source = self._source = self._listener(Wanted(DEFINITION_KIND, managed=False, optional=True, metadata_only=True), objects)
        source.when_complete = self._tell_all
        self._task = asyncio.create_task(source.run(), name="watch of definitions")
        return source

    def _all_is_heard(self, source: Source, group: str) -> bool:
        is_settled = asyncio.get_running_loop().time() - self._changed.get(group, float("-inf")) > SETTLING
        return is_settled and source.complete and (source.trouble is None or isinstance(source.trouble, Silent))

    def _note(self, ref: Ref, *_: Manifest | None) -> None:
        group = ref.name.partition(".")[2]
        self._changed[group] = asyncio.get_running_loop().time()
        self._tell(group)

    def _tell_all(self) -> None:
        """Notifies all waiters once the first list is complete: earlier changes were not observed."""
        for group in list(self._news):
            self._tell(group)

    def _tell(self, group: str) -> None:
        news = self._news.pop(group, None)
        if news is not None:
            news.set()
