"""Stores the objects of a cluster in memory, their history, and the watchers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from applier.ref import GroupKind, Manifest, Ref, uid_of

FIRST_VERSION = 1000
_SCALARS = frozenset((str, int, float, bool, type(None)))


def copied(value: Any) -> Any:
    """Returns a copy of JSON values, several times faster than `copy.deepcopy`; a call for each scalar would double the time."""
    if isinstance(value, dict):
        return {key: item if item.__class__ in _SCALARS else copied(item) for key, item in value.items()}
    return [item if item.__class__ in _SCALARS else copied(item) for item in value] if isinstance(value, list) else value


class StoredChange(NamedTuple):
    """Represents a change in the history, with its resourceVersion. `old` is None for a creation, `new` for a deletion."""

    version: int
    ref: Ref
    old: Manifest | None
    new: Manifest | None


class Store:
    """Stores objects by name, with a history of at most `history` changes. Stored objects are never changed in place.

    Without `has_progress` streams of kinds without changes get no bookmarks, as on a real server until etcd reports progress, which it does
    every ten minutes or on request: a bookmark must be newer than the start of its stream.
    """

    def __init__(self, history: int) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.version = FIRST_VERSION
        self.changes: deque[StoredChange] = deque(maxlen=history)
        self.oldest = FIRST_VERSION  # watches may begin at this version or later
        self.watchers: dict[Watcher, None] = {}
        self.has_progress = True
        self._names: dict[GroupKind, list[Ref]] = {}  # by kind, in order, until one is added or removed
        self._uids = 0

    def restore(self, objects: Mapping[Ref, Manifest], version: int) -> None:
        """Replaces all objects by those of another store, as of a version, without a history."""
        self.objects, self.version, self.oldest = dict(objects), version, version
        self._names.clear()
        self.changes.clear()

    def new_uid(self) -> str:
        self._uids += 1
        return f"00000000-0000-4000-8000-{self._uids:012d}"

    def put(self, manifest: Manifest) -> Manifest:
        """Stores an object under the next version and notifies watchers; returns the stored object."""
        self.version += 1
        stored: Manifest = copied(manifest)
        stored["metadata"]["resourceVersion"] = str(self.version)
        ref = Ref.of(stored)
        old, self.objects[ref] = self.objects.get(ref), stored
        if old is None:
            self._names.pop(ref[:2], None)
        self._remember(StoredChange(self.version, ref, old, stored))
        return stored

    def remove(self, ref: Ref) -> None:
        """Removes an object. The last state that watches get has the version of the deletion."""
        self.version += 1
        old = self.objects.pop(ref)
        self._names.pop(ref[:2], None)
        last = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
        self._remember(StoredChange(self.version, ref, last, None))

    def of(self, group: str, kind: str, namespace: str = "") -> Iterator[Manifest]:
        """Yields objects of a kind, of one namespace or of all, by name."""
        for ref in self._names_of(group, kind):
            if not namespace or ref.namespace == namespace:
                yield self.objects[ref]

    def _names_of(self, group: str, kind: str) -> list[Ref]:
        names = self._names.get((group, kind))
        if names is None:
            names = self._names[group, kind] = sorted(ref for ref in self.objects if ref[:2] == (group, kind))
        return names

    def by_uid(self, uid: str) -> Manifest | None:
        return next((manifest for manifest in self.objects.values() if uid_of(manifest) == uid), None)

    def forget(self) -> None:
        """Drops the history, so that a watch from an earlier version gets 410."""
        self.changes.clear()
        self.oldest = self.version

    def since(self, version: int) -> list[StoredChange] | None:
        """Returns the changes after a version; None if the history does not go back that far."""
        if self.changes.maxlen and len(self.changes) == self.changes.maxlen:
            self.oldest = max(self.oldest, self.changes[0].version - 1)
        return None if version < self.oldest else [change for change in self.changes if change.version > version]

    def _remember(self, change: StoredChange) -> None:
        self.changes.append(change)
        for watcher in self.watchers:
            if watcher.concerns(change):
                watcher.queue.put_nowait(change)

    def end_watches(self, error: Exception) -> None:
        """Ends the streams of all watchers with an error; `StopAsyncIteration` ends them without one."""
        self._tell_all(error)

    def send_bookmarks(self) -> None:
        """Sends a bookmark of the present version to all watchers."""
        self._tell_all(Bookmark(self.version))

    def _tell_all(self, news: Bookmark | Exception) -> None:
        for watcher in self.watchers:
            watcher.queue.put_nowait(news)


class Bookmark(NamedTuple):
    """Stands in the queue of a watcher for a bookmark, behind the changes up to its version."""

    version: int


class Watcher:
    """Queues the changes that concern it from now on until it is closed, bookmarks, and the error that ends its stream.

    Of the changes of a cluster most concern one watcher of many, and to wake the others for each took a tenth of a simulation.
    """

    def __init__(self, store: Store, concerns: Callable[[StoredChange], bool]) -> None:
        self.queue: asyncio.Queue[StoredChange | Exception | Bookmark] = asyncio.Queue()
        self.concerns = concerns
        self._store = store
        store.watchers[self] = None

    @property
    def version(self) -> int:
        """Returns the version of the store, up to which all has been received while the queue is empty."""
        return self._store.version

    @property
    def is_open(self) -> bool:
        return self in self._store.watchers

    @property
    def has_progress(self) -> bool:
        return self._store.has_progress

    def close(self) -> None:
        self._store.watchers.pop(self, None)
