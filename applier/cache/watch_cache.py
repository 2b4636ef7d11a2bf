"""Caches the objects of a cluster, kept up to date by watches."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import suppress

from applier.backoff import Backoff
from applier.cache.compact import Compactor
from applier.cache.definitions import DefinitionWatch
from applier.cache.journal import Changes, Journals, Selected
from applier.cache.objects import Note, ObjectStore, Subscriber
from applier.cache.snapshot import Query, as_one
from applier.cache.source import FATAL, REFUSED, Reflector
from applier.cache.versions import LabelledAs
from applier.cluster import Cluster
from applier.errors import ClusterError, Forbidden, NotSynced, UnknownKind
from applier.ref import GroupKind, Kind, Manifest, Ref, uid_of
from kube_objects.label_selector import selector as read_selector

UNSELECTED_FOR = 2.0
"""Seconds for which an object is known that was read, and that its watch does not select: no event will tell of its end."""
PAUSE = 1.0
"""Seconds between two looks whether a server lists what it has denied, or denies it for long."""
FIRST_WAIT, MAX_WAIT = 0.8, 30.0  # seconds before a broken watch is taken up again: client-go's for its reflectors


class WatchCache:
    """Serves the live objects of some kinds (a `Live`) without requests. The objects are shared and must not be changed.

    An unknown object is never reported as absent: reads of a kind that is not watched, not served or not listed yet raise `NotSynced`, and
    `staleness` tells why the known state may be stale. `stall` is the number of seconds of silence after which a stream counts as dead.
    `watch_list` requests watches that begin with the state; servers without those are listed. Times are those of the event loop's clock.
    """

    def __init__(
        self,
        cluster: Cluster,
        queries: Iterable[Query | tuple[Kind, str]] = (),
        *,
        stall: float = 120.0,
        watch_list: bool = True,
        chance: random.Random | None = None,
    ) -> None:
        self._cluster, self._stall, self._watch_list = cluster, stall, watch_list
        self._chance = chance or random.Random()
        self._objects, self._compactor = ObjectStore(), Compactor()
        self._unselected: dict[Ref, Manifest] = {}
        self._journals = Journals()
        self._objects.subscribers[self._journals.note] = None
        self._served_subscribers: dict[Callable[[], None], None] = {}
        self._current_subscribers: dict[Callable[[], None], None] = {}
        self._sources: dict[tuple[str, str, str], Reflector] = {}
        self._by_kind: dict[GroupKind, list[Reflector]] = {}  # the same sources
        self._tasks: dict[Reflector, asyncio.Task[None]] = {}
        self._queries, self._running = [Query(*query) for query in queries], False
        self._definitions = DefinitionWatch(self._new_source)
        self.declared: frozenset[GroupKind] = frozenset((query.kind.group, query.kind.kind) for query in self._queries)

    async def start(self) -> None:
        """Starts the watches. The state is known once `synced` returns."""
        self._running = True
        self._objects.own.now = asyncio.get_running_loop().time  # bound here, since metrics read the lag in a thread without a loop
        queries, self._queries = self._queries, []
        self.add(*queries)

    def add(self, *queries: Query) -> None:
        """Adds kinds to watch, from now on or from the start. Kinds that are watched already are not changed."""
        if not self._running:
            self._queries += queries
            return
        for query in queries:
            group, kind = query.kind.group, query.kind.kind
            if not {(group, kind, ""), (group, kind, query.namespace)} & self._sources.keys():
                self._begin(query)

    async def synced(self, *queries: Query) -> None:
        """Waits until the state of these kinds, or of all, is known. Raises the errors that waiting does not solve."""
        errors = await self.settled(*queries)
        if errors:
            raise as_one(errors)

    async def settled(self, *queries: Query) -> list[ClusterError]:
        """Waits until each of these kinds, or of all, is known or has failed; returns the errors of those that have failed.

        A failed kind is still retried, and becomes known once the error is gone.
        """
        sources = self._asked(queries)
        await asyncio.gather(*(source.settled.wait() for source in sources))
        return _errors(sources)

    async def tried(self, *queries: Query) -> list[ClusterError]:
        """Waits as `settled` does, but no longer for a kind once the server has denied each list of it for a while (`is_refused`)."""
        while waiting := [source for source in self._asked(queries) if not (source.settled.is_set() or source.is_refused)]:
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    await asyncio.gather(*(source.settled.wait() for source in waiting))
        return _errors(self._asked(queries))

    async def usable(self) -> list[ClusterError]:
        """Waits until all kinds are known, or after `REFUSED` seconds all but those whose lists fail; returns the errors of these.

        Reads of these raise `NotSynced`, and they become known once their errors are gone. A list that takes long has not failed, and is
        waited for: who begins without it can do nothing but wait. Raises the errors that waiting does not solve.
        """
        end = asyncio.get_running_loop().time() + REFUSED
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(end):
                    await self.settled()
            unknown = [source for source in self.sources() if not source.complete]
            errors = _errors(unknown)
            fatal = [error for error in errors if isinstance(error, FATAL)]
            if fatal and (len(fatal) == len(self.sources()) or not all(isinstance(error, Forbidden) for error in fatal)):
                raise as_one(errors)
            if len(unknown) < len(self.sources()) and all(source.error is not None for source in unknown):
                return errors
            await asyncio.sleep(PAUSE)

    async def stop(self) -> None:
        """Stops all watches. The known state can still be read."""
        self._running = False
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, self._definitions.stop(), return_exceptions=True)

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None if there is none. Raises `NotSynced` if that is not known.

        An object that its watch does not select is returned for a moment after it was read, and does not exist otherwise.
        """
        result = self._objects.get(ref)
        if result is None and not self.covers(ref):
            raise self._not_synced(ref[:2], ref.namespace)
        return result or self._unselected.get(ref)

    def covers(self, ref: Ref) -> bool:
        """Reports whether the cache knows if this object exists."""
        return any(source.is_known for source in self._around(ref.group, ref.kind, ref.namespace))

    def selects(self, ref: Ref) -> bool:
        """Reports whether a watch shows this object, and thus will show its changes and its end."""
        return self._objects.get(ref) is not None

    def is_unselected(self, ref: Ref) -> bool:
        """Reports whether an object was written a moment ago without the labels by which its kind is watched, so that no watch shows it."""
        return ref in self._unselected and self._objects.get(ref) is None

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        """Returns the objects of some kinds, or of all that are watched, that have an owner with this UID, sorted by kind and name.

        Raises `NotSynced` if one of the kinds is not known; without kinds, one of those that the cache was created with: a kind that was
        added later, for one graph, must not block the reads of others.
        """
        kinds = frozenset(kinds)
        for kind in kinds or self.declared:
            self._check(kind)
        return self._objects.by_owner(uid, kinds)

    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind that match a selector, of one namespace or of all watched ones, by name. Raises `NotSynced`."""
        self._check((group, kind), namespace)
        return self._objects.of(group, kind, namespace, read_selector(selector))

    def deleted(self, uid: str, group: str, kind: str) -> list[Manifest]:
        """Returns the last states of deleted objects of a kind that have an owner with this UID, in the order of the deletions.

        They are what a watch has shown, and were forgotten with their owner; those deleted in a gap of the watch are as they were before.
        Only kinds and labels with `Query.keeps_deleted` are kept, and of each process only what it has watched. Raises `NotSynced`.
        """
        self._check((group, kind))
        return self._objects.deleted(uid, (group, kind))

    def deleted_names(self, group: str, kind: str, value: str, namespace: str) -> list[str]:
        """Returns the names of deleted objects of a kind whose label `Query.keeps_deleted` had this value. Raises `NotSynced`.

        They are known for longer than the states, also when the owner is gone, but no more than the last few thousand of all.
        """
        self._check((group, kind), namespace)
        return self._objects.deleted_names(LabelledAs((group, kind), namespace, value))

    def recall(self, manifest: Manifest) -> None:
        """Counts an object that was gone before the first list as one that was seen to be deleted: `deleted_names` tells its name.

        Of the manifest only kind, name, namespace and labels matter.
        """
        self._objects.recall(manifest)

    def changes(self, group: str, kind: str, label: str, value: str, namespace: str, since: object = None) -> Changes:
        """Returns which objects of a kind with this label, in one namespace or in all, have changed since a mark. Raises `NotSynced`.

        For callers that maintain sums over the objects: the cost is linear in the changes, not in the number of objects.
        """
        self._check((group, kind), namespace)
        return self._journals.read(Selected(group, kind, label, value, namespace), since)

    def staleness(self, kinds: Iterable[GroupKind], since: float = float("-inf")) -> list[str]:
        """Returns why the known state of these kinds may be stale, a sentence for each; empty if all of it is current.

        `since` is a time of the loop's clock after which the server must have confirmed the state.
        """
        reasons: list[str] = []
        for kind in dict.fromkeys(kinds):
            sources = self._of(kind)
            reasons += [reason for source in sources if (reason := source.staleness(since))] if sources else [self._unknown(kind)]
        return reasons

    def forbidden(self) -> list[Forbidden]:
        """Returns the server's errors for the kinds that we lack permission to list or watch."""
        return [source.error for source in self._sources.values() if isinstance(source.error, Forbidden)]

    def refresh(self, kinds: Iterable[GroupKind], since: float = float("-inf")) -> None:
        """Requests the state of those of these kinds again that are stale only because the server was silent.

        For a kind without changes a server may be silent for ten minutes. A caller that must not act on a stale state calls this, and is
        notified of a change, or retries a moment later.
        """
        for kind in dict.fromkeys(kinds):
            for source in self._of(kind):
                source.refresh(since)

    def unserved(self) -> set[Kind]:
        """Returns the watched kinds that the server does not serve now."""
        return {source.query.kind for source in self.sources() if isinstance(source.error, UnknownKind)}

    def count(self) -> int:
        """Returns how many objects are known."""
        return self._objects.count()

    def sources(self) -> list[Reflector]:
        """Returns the sources, with their counters and errors, for metrics."""
        return list(self._sources.values())

    def lag(self) -> float:
        """Returns the age, in seconds, of our oldest write that no watch has shown yet; 0 without one.

        The cache shows these writes all the same. A growing lag indicates a problem of the server or of the connection.
        """
        return self._objects.own.lag()

    def known_uid(self, ref: Ref) -> str:
        """Returns the UID of the object of this name; empty if none is known."""
        return "" if (known := self._objects.get(ref)) is None else uid_of(known)

    def put_deleted(self, ref: Ref, uid: str) -> None:
        """Removes an object that is gone, by the answer to a request of ours, before the watch shows it."""
        self._objects.record_deletion(ref, uid)

    def put(self, manifest: Manifest) -> None:
        """Stores the answer to a request, before the watch shows it, unless the watch has already shown a newer state."""
        ref = Ref.of(manifest)
        for source in self._around(ref.group, ref.kind, ref.namespace)[:1]:
            if read_selector(source.query.labels).matches(manifest):
                self._objects.record_write(self._compactor.keep(manifest, managed=source.query.managed), source.version)
            else:
                self._unselected[ref] = manifest
                asyncio.get_running_loop().call_later(UNSELECTED_FOR, self._unselected.pop, ref, None)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Calls a function with the reference, old and new state of each object that changes; returns the function that unsubscribes.

        It must not block and must not raise. The old state is None for a new object, the new one for a deleted object.
        """
        self._objects.subscribers[subscriber] = None
        return lambda: self._objects.subscribers.pop(subscriber, None)

    def note_before(self, note: Note) -> Callable[[], None]:
        """Calls a function with the reference and the state of each object right before it changes; returns the function that ends this.

        For readers in other threads, which may use `get`, `by_owner`, `by_label`, `deleted`, `deleted_names` and `unserved` (see
        `FrozenCache`).
        """
        self._objects.before_change[note] = None
        return lambda: self._objects.before_change.pop(note, None)

    def subscribe_served(self, subscriber: Callable[[], None]) -> Callable[[], None]:
        """Calls a function when a watched kind becomes served or unserved; returns the function that unsubscribes.

        Such a kind may have no objects, so that `subscribe` is not called; yet reads of it have another result.
        """
        self._served_subscribers[subscriber] = None
        return lambda: self._served_subscribers.pop(subscriber, None)

    def subscribe_current(self, subscriber: Callable[[], None]) -> Callable[[], None]:
        """Calls a function when the state of a kind that was stale may be current again; returns the function that unsubscribes.

        The state is often the same as before, so that `subscribe` is not called; yet who must not act on a stale state may act now.
        """
        self._current_subscribers[subscriber] = None
        return lambda: self._current_subscribers.pop(subscriber, None)

    def _asked(self, queries: Iterable[Query]) -> list[Reflector]:
        """Returns the sources of these kinds, or of all."""
        scopes = [self._around(query.kind.group, query.kind.kind, query.namespace) for query in queries]
        return [source for scope in scopes for source in scope] if queries else self.sources()

    def _around(self, group: str, kind: str, namespace: str) -> list[Reflector]:
        """Returns the sources that cover a kind in a namespace, the one of all namespaces first."""
        sources = (self._sources.get((group, kind, scope)) for scope in dict.fromkeys(("", namespace)))
        return [source for source in sources if source is not None]

    def _of(self, kind: GroupKind) -> list[Reflector]:
        """Returns the sources of a kind; only the one of all namespaces, once its state is known."""
        sources = self._by_kind.get(kind, [])
        if len(sources) < 2:
            return sources
        return [source for source in sources if not source.query.namespace and source.is_known] or sources

    def _check(self, kind: GroupKind, namespace: str = "") -> None:
        """Raises `NotSynced` unless the state of a kind is known in a namespace, or in all that are watched."""
        sources = self._around(*kind, namespace) if namespace else self._of(kind)
        if not sources or not (any if namespace else all)(source.is_known for source in sources):
            raise self._not_synced(kind, namespace)

    def _not_synced(self, kind: GroupKind, namespace: str) -> NotSynced:
        errors = [source.error for source in self._around(*kind, namespace) if not source.is_known]
        return NotSynced(self._unknown(kind, namespace), next(iter(errors), None))

    def _unknown(self, kind: GroupKind, namespace: str = "") -> str:
        """Returns why the state of a kind is not known."""
        sources = self._around(*kind, namespace) if namespace else self._of(kind)
        reasons = [source.staleness() for source in sources if not source.is_known]
        name = f"{kind[1]}.{kind[0]}" if kind[0] else kind[1]
        return reasons[0] if reasons else f"{name} is not watched{f' in {namespace}' if namespace else ''}"

    def _begin(self, query: Query) -> None:
        """Starts a source. One of all namespaces replaces those of single namespaces as soon as its state is known."""
        group, kind = query.kind.group, query.kind.kind
        if query.keeps_deleted:
            self._objects.last.keep_of((group, kind), query.keeps_deleted)
        source = self._new_source(query, self._objects)
        source.when_served = lambda: _call_all(self._served_subscribers)
        source.when_current = lambda: _call_all(self._current_subscribers)
        source.until_defined = self._definitions.wait_for_change
        narrower = [] if query.namespace else [key for key in self._sources if key[:2] == (group, kind)]
        self._sources[group, kind, query.namespace] = source
        self._by_kind.setdefault((group, kind), []).append(source)
        self._tasks[source] = asyncio.create_task(source.run(), name=f"watch of {kind}")
        if narrower:
            source.when_complete = lambda: self._end(narrower)

    def _new_source(self, query: Query, objects: ObjectStore) -> Reflector:
        backoff = Backoff(FIRST_WAIT, MAX_WAIT, self._chance)
        return Reflector(self._cluster, query, objects, self._compactor, backoff, self._stall, self._watch_list)

    def _end(self, keys: list[tuple[str, str, str]]) -> None:
        for key in keys:
            source = self._sources.pop(key)
            self._by_kind[key[:2]].remove(source)
            self._tasks.pop(source).cancel()


def _errors(sources: Iterable[Reflector]) -> list[ClusterError]:
    return [source.error for source in sources if not source.complete and isinstance(source.error, ClusterError)]


def _call_all(subscribers: Iterable[Callable[[], None]]) -> None:
    for subscriber in list(subscribers):
        subscriber()
