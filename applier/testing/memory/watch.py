"""Implements the watches of a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from applier.cluster import Resource, WatchEvent
from applier.errors import Expired
from applier.ref import Manifest, Ref
from applier.testing.memory.store import Bookmark, Store, StoredChange, Watcher, copied
from kube_objects.label_selector import Selector

BOOKMARKS = 60.0  # seconds between two bookmarks of a stream


def watched(
    store: Store, resource: Resource, namespace: str, selector: Selector, resource_version: str, initial: bool
) -> AsyncIterator[WatchEvent]:
    """Returns the stream of one watch, with every change from this call on. Raises `Expired` if the version is too old."""
    selection = WatchFilter(resource, namespace, selector)
    watcher = Watcher(store, lambda change: selection.is_of_kind(change.ref))
    from_now = initial or not resource_version
    past = [] if from_now else store.since(int(resource_version))
    state = [one for ref, one in store.objects.items() if selection.is_of_kind(ref) and selection.holds(one)] if from_now else []
    if past is None:
        watcher.close()
        raise Expired(410, "Expired", f"too old resource version: {resource_version} ({store.oldest})")
    return _stream(watcher, selection, state, past, store.version, initial)


class WatchFilter:
    """Selects the objects of a watch, and converts changes to its events."""

    def __init__(self, resource: Resource, namespace: str, selector: Selector) -> None:
        self.resource, self.namespace, self.selector = resource, namespace, selector

    def holds(self, manifest: Manifest | None) -> bool:
        return manifest is not None and self._is_here(Ref.of(manifest)) and self.selector.matches(manifest)

    def event(self, change: StoredChange) -> WatchEvent | None:
        """Returns the event of a change: ADDED for an object that enters the selection, DELETED for one that leaves it."""
        if not self.is_of_kind(change.ref):  # of the history that is behind a watch most is, and to look at the objects takes longer
            return None
        before, after = self.holds(change.old), self.holds(change.new)
        if not before and not after:
            return None
        if not after:
            assert change.old is not None
            return self.show("DELETED", change.old, str(change.version))
        assert change.new is not None
        return self.show("MODIFIED" if before else "ADDED", change.new, str(change.version))

    def show(self, event_type: str, manifest: Manifest, version: str) -> WatchEvent:
        shown = copied(manifest)
        shown["apiVersion"] = self.resource.kind.api_version
        shown["metadata"]["resourceVersion"] = version
        return WatchEvent(event_type, shown)

    def bookmark(self, version: int, *, initial_end: bool = False) -> WatchEvent:
        kind = self.resource.kind
        shown = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"resourceVersion": str(version)}}
        return WatchEvent("BOOKMARK", shown, initial_end)

    def is_of_kind(self, ref: Ref) -> bool:
        kind = self.resource.kind
        return ref[:2] == (kind.group, kind.kind)

    def _is_here(self, ref: Ref) -> bool:
        return self.is_of_kind(ref) and (not self.namespace or ref.namespace == self.namespace)


async def _stream(
    watcher: Watcher, selection: WatchFilter, state: list[Manifest], past: list[StoredChange], version: int, initial: bool
) -> AsyncIterator[WatchEvent]:
    happened = False
    try:
        yield WatchEvent("OPENED", {})
        for manifest in state:
            yield selection.show("ADDED", manifest, manifest["metadata"]["resourceVersion"])
        if initial:
            yield selection.bookmark(version, initial_end=True)
        for event in _events(past, selection):
            yield event
        async for news in _news(watcher):
            if isinstance(news, StopAsyncIteration):
                return
            if isinstance(news, Exception):
                raise news
            if isinstance(news, Bookmark):
                yield selection.bookmark(news.version)
            elif isinstance(news, Minute):
                if happened or watcher.has_progress:
                    yield selection.bookmark(watcher.version)
            else:
                happened = True
                for event in _events([news], selection):
                    yield event
    finally:
        watcher.close()


class Minute:
    """Sends a bookmark, if there is progress to report (see `Store.has_progress`)."""


async def _news(watcher: Watcher) -> AsyncIterator[StoredChange | Exception | Bookmark | Minute]:
    """Yields changes for ever, and every minute a bookmark, unless the stream is stalled."""
    clock = asyncio.get_running_loop().time
    due = clock() + BOOKMARKS
    while True:
        try:
            async with asyncio.timeout_at(due):
                news = await watcher.queue.get()
        except TimeoutError:
            due = clock() + BOOKMARKS
            if watcher.is_open and watcher.queue.empty():  # or what is queued has come at the same moment, and goes first
                yield Minute()
        else:
            yield news


def _events(changes: list[StoredChange], selection: WatchFilter) -> Iterator[WatchEvent]:
    return (event for event in map(selection.event, changes) if event is not None)
