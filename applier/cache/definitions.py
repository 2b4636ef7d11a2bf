"""Watches CustomResourceDefinitions, so that waiting for a kind that is not served yet needs no polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from applier.cache.objects import ObjectStore
from applier.cache.snapshot import Query
from applier.cache.source import Reflector, Silent
from applier.ref import DEFINITION_KIND, Manifest, Ref

SETTLING = 30.0
"""Seconds after a change of a definition in which the server may begin to serve its kind, without another event."""


class DefinitionWatch:
    """Watches the metadata of all definitions, beginning when a kind is first waited for.

    `new_source` creates the source that watches them, into objects of its own, since definitions belong to no graph. If they cannot be
    watched, as without permission, waiting falls back to polling.
    """

    def __init__(self, new_source: Callable[[Query, ObjectStore], Reflector]) -> None:
        self._new_source = new_source
        self._source: Reflector | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed: dict[str, float] = {}  # by group: when, on the loop's clock, a definition of it last changed
        self._next_changes: dict[str, asyncio.Event] = {}  # by group: set with the next change

    async def wait_for_change(self, group: str, seconds: float) -> bool:
        """Waits until a definition of a group changes (True), or returns False after some seconds if one may have changed unnoticed.

        A watch that broke may have been resumed with an upgraded server, which serves more built-in kinds. One that was only silent missed
        nothing: definitions change so seldom that a server may send no event of them for ten minutes.
        """
        source = self._source or self._start()
        next_change, breaks = self._next_changes.setdefault(group, asyncio.Event()), source.breaks
        while True:
            try:
                # Not `wait_for`: before Python 3.12 it loses a cancellation that coincides with the event, and the task never ends.
                async with asyncio.timeout(seconds):
                    await next_change.wait()
                return True
            except TimeoutError:
                if source.breaks != breaks or not self._is_up_to_date(source, group):
                    return False

    async def stop(self) -> None:
        """Stops the watch."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _start(self) -> Reflector:
        objects = ObjectStore()
        objects.subscribers[self._note] = None
        source = self._source = self._new_source(Query(DEFINITION_KIND, managed=False, optional=True, metadata_only=True), objects)
        source.when_complete = self._notify_all
        self._task = asyncio.create_task(source.run(), name="watch of definitions")
        return source

    def _is_up_to_date(self, source: Reflector, group: str) -> bool:
        is_settled = asyncio.get_running_loop().time() - self._changed.get(group, float("-inf")) > SETTLING
        return is_settled and source.complete and (source.error is None or isinstance(source.error, Silent))

    def _note(self, ref: Ref, *_: Manifest | None) -> None:
        group = ref.name.partition(".")[2]
        self._changed[group] = asyncio.get_running_loop().time()
        self._notify(group)

    def _notify_all(self) -> None:
        """Notifies all waiters once the first list is complete: earlier changes were not observed."""
        for group in list(self._next_changes):
            self._notify(group)

    def _notify(self, group: str) -> None:
        next_change = self._next_changes.pop(group, None)
        if next_change is not None:
            next_change.set()
