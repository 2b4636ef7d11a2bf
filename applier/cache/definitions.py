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
        self._defined: dict[str, set[str]] = {}  # names of definitions, by group
        self._changed: dict[str, float] = {}  # by group: when, on the loop's clock, a definition of it last changed
        self._next_changes: dict[str, asyncio.Future[None]] = {}  # by group: done with the next change
        self._next_break: asyncio.Future[None] | None = None  # done when the watch breaks

    async def wait_for_change(self, group: str, seconds: float, may_load: bool = False) -> bool:
        """Waits until a definition of a group changes (True), or returns False after some seconds if one may have changed unnoticed.

        So it does where the server `may_load` the kind and its group has definitions: one that has just started loads these without a word.
        A watch that broke may have been resumed with an upgraded server, which serves more built-in kinds. One that was only silent missed
        nothing: definitions change so seldom that a server may send no event of them for ten minutes.
        """
        source = self._source or self._start()
        change, breaks = self._next_changes.setdefault(group, _future()), source.breaks

        def is_doubtful() -> bool:
            return (may_load and bool(self._defined.get(group))) or source.breaks != breaks or not self._is_up_to_date(source, group)

        while not change.done():
            # Not `wait_for`: before Python 3.12 it loses a cancellation that coincides with the change, and the task never ends.
            if is_doubtful():
                await asyncio.wait([change], timeout=seconds)
            if change.done():
                break
            if is_doubtful():
                return False
            # Without a timer: an operator at rest, which waits for half a dozen kinds, would wake up several times a second.
            await asyncio.wait([change, self._until_break()], return_when=asyncio.FIRST_COMPLETED)
        return True

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
        source.when_complete, source.when_broken = self._notify_all, self._note_break
        self._task = asyncio.create_task(source.run(), name="watch of definitions")
        return source

    def _is_up_to_date(self, source: Reflector, group: str) -> bool:
        is_settled = asyncio.get_running_loop().time() - self._changed.get(group, float("-inf")) > SETTLING
        return is_settled and source.complete and (source.error is None or isinstance(source.error, Silent))

    def _until_break(self) -> asyncio.Future[None]:
        self._next_break = self._next_break or _future()
        return self._next_break

    def _note_break(self) -> None:
        next_break, self._next_break = self._next_break, None
        if next_break is not None:
            next_break.set_result(None)

    def _note(self, ref: Ref, _: Manifest | None, new: Manifest | None) -> None:
        group = ref.name.partition(".")[2]
        names = self._defined.setdefault(group, set())
        names.discard(ref.name) if new is None else names.add(ref.name)
        self._changed[group] = asyncio.get_running_loop().time()
        self._notify(group)

    def _notify_all(self) -> None:
        """Notifies all waiters once the first list is complete: earlier changes were not observed."""
        for group in list(self._next_changes):
            self._notify(group)

    def _notify(self, group: str) -> None:
        next_change = self._next_changes.pop(group, None)
        if next_change is not None:
            next_change.set_result(None)


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()
