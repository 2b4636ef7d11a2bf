"""Provides the view of the cluster for a function from snapshot to graph, and records what the function reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from applier.cache import Changes, FrozenCache, Query, WatchCache, as_one
from applier.cluster import Live
from applier.errors import REFUSALS, NotSynced
from applier.ref import GroupKind, Kind, Manifest, Ref

MAX_DECISION_AGE = 1.0
"""Seconds after which a deletion is not carried out if its key has been enqueued meanwhile: other writes may take as long as webhooks do,
and what was to go may be wanted again."""
MAX_SILENCE = 5.0
"""Seconds for which a watch may be silent although objects of its kind have changed."""
OUTDATED = "what it was decided by has changed while other writes took their time"


class Ownership(NamedTuple):
    """Represents a read of the objects of a kind, or of all kinds, that have an owner with this UID."""

    uid: str
    kind: GroupKind | None


class SelectorRead(NamedTuple):
    """Represents a read of the objects of a kind by label selector."""

    group: str
    kind: str
    namespace: str
    selector: str


class StateChange(NamedTuple):
    """Holds the states of an object before and after: None for a new one before, and after for one that is gone, or not known any more."""

    old: Manifest | None
    new: Manifest | None


@dataclass(slots=True, eq=False)
class ReadSet:
    """Collects everything that was read through a view: objects by name, by owner and by label, and the kinds of all these."""

    refs: set[Ref] = field(default_factory=set)
    owned: set[Ownership] = field(default_factory=set)
    selections: set[SelectorRead] = field(default_factory=set)
    kinds: set[GroupKind] = field(default_factory=set)

    def count(self) -> int:
        """Returns the number of distinct reads."""
        return len(self.refs) + len(self.owned) + len(self.selections)


class View:
    """Wraps the cache (a `Live`) and records what is read. Objects are read-only; nothing changes while the function runs.

    An unknown object is never reported as absent: reads raise `NotSynced`. `since` is a time of the loop's clock: a state that the server
    has not confirmed after it counts as stale.
    """

    def __init__(self, cache: WatchCache, since: float = float("-inf")) -> None:
        self.read = ReadSet()
        self.gone_since: frozenset[Ref] = frozenset()
        """What existed while the view was frozen, and no longer does."""
        self.is_outdated: Callable[[], bool] = bool
        """Whether what was read has changed since a result was computed from it, longer ago than may be overlooked."""
        self._live, self._since = cache, since
        self._cache: WatchCache | FrozenCache = cache
        self._staleness: list[str] = []

    @property
    def is_frozen(self) -> bool:
        """Reports whether another thread may read it."""
        return self._cache is not self._live

    def freeze(self) -> None:
        """Shows everything as it is now, also to another thread, until `thaw`."""
        self._cache = FrozenCache(self._live)

    def thaw(self) -> dict[Ref, StateChange]:
        """Shows everything as it is, if it was frozen; returns the changes of the objects that have changed meanwhile."""
        if not isinstance(self._cache, FrozenCache):
            return {}
        before, self._cache = self._cache.release(), self._live
        changes = {ref: StateChange(old, _or_none(self._live, ref)) for ref, old in before.items()}
        gone = (ref for ref, change in changes.items() if change.old is not None and change.new is None)
        self.gone_since = frozenset(ref for ref in gone if self._live.covers(ref))
        return changes

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Shows everything as it was when this was entered, also to another thread."""
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None when there is none. Raises `NotSynced` when that is not known."""
        self.read.refs.add(ref)
        self.read.kinds.add(ref[:2])
        return self._cache.get(ref)

    def known(self, ref: Ref) -> Manifest | None:
        """Returns the live object; None where there is none, and where that is not known.

        It is not known of kinds that are not watched, not served or not listed yet, or that may not be read. For callers that leave alone
        what they do not see, whether it exists or not: nothing may be created or deleted because of it.
        """
        self.read.refs.add(ref)
        self.read.kinds.add(ref[:2])
        return _or_none(self._cache, ref)

    def peek(self, ref: Ref) -> Manifest | None:
        """Returns the live object without recording an interest in it: `keys` decides which of its changes enqueue the key."""
        self.read.kinds.add(ref[:2])
        return self._cache.get(ref)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        """Returns the objects of some kinds, or of all that are watched, that name this UID among their owners. Raises `NotSynced`."""
        kinds = frozenset(kinds)
        self.read.owned.update(Ownership(uid, kind) for kind in kinds or (None,))
        self.read.kinds |= kinds or self._cache.declared
        return self._cache.by_owner(uid, kinds)

    def deleted(self, uid: str, group: str, kind: str) -> list[Manifest]:
        """Returns the last states of deleted objects of a kind with this owner (see `WatchCache.deleted`). Raises `NotSynced`."""
        self.read.owned.add(Ownership(uid, (group, kind)))
        self.read.kinds.add((group, kind))
        return self._cache.deleted(uid, group, kind)

    def deleted_names(self, group: str, kind: str, value: str, namespace: str) -> list[str]:
        """Returns the names of deleted objects of a kind by their label (see `WatchCache.deleted_names`). Raises `NotSynced`."""
        self.read.kinds.add((group, kind))
        return self._cache.deleted_names(group, kind, value, namespace)

    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind that match a selector. Raises `NotSynced`."""
        self.read.selections.add(SelectorRead(group, kind, namespace, selector))
        self.read.kinds.add((group, kind))
        return self._cache.by_label(group, kind, selector, namespace)

    def changes(self, group: str, kind: str, label: str, value: str, namespace: str = "", since: object = None) -> Changes:
        """Returns which objects of a kind with this label have changed since the mark of an earlier answer, by name. Raises `NotSynced`.

        Further changes of any of them enqueue the key, as with `by_label`.
        """
        self.read.selections.add(SelectorRead(group, kind, namespace, f"{label}={value}"))
        self.read.kinds.add((group, kind))
        return self._cache.changes(group, kind, label, value, namespace, since)

    def staleness(self) -> list[str]:
        """Returns why the state that was read may be stale, a sentence for each kind; empty if it is current.

        A view that was once stale stays so: the result was computed from that state, whatever the server has confirmed since.
        """
        self._staleness = self._staleness or self._live.staleness(self.read.kinds, self._since)
        if not self._staleness and self.is_outdated():
            self._staleness = [OUTDATED]
        return self._staleness

    def refresh(self) -> None:
        """Requests the state of the kinds that are stale only because the server was silent, for the next reconcile."""
        self._live.refresh(self.read.kinds, self._since)

    def doubt(self, kinds: Iterable[GroupKind]) -> None:
        """Requests the state of these kinds again, except those that the server has confirmed a moment ago.

        For callers that a server has told something else than what was read: a watch that is silent since then may have been cut off.
        """
        self._live.refresh(kinds, asyncio.get_running_loop().time() - MAX_SILENCE)

    def unserved(self) -> set[Kind]:
        """Returns the watched kinds that the server does not serve now."""
        return self._cache.unserved()

    async def watch(self, queries: Iterable[Query]) -> None:
        """Watches these kinds, and waits until their state is known. Raises the errors that keep us from reading them.

        What the server denies for one kind (`REFUSALS`) raises nothing here: reading an object of it raises `NotSynced` with the reason.
        Nor is it waited for without an end, which would hold a worker for each key that writes the kind.
        """
        queries = tuple(queries)
        self._live.add(*queries)
        errors = [error for error in (await self._live.tried(*queries) if queries else ()) if not isinstance(error, REFUSALS)]
        if errors:
            raise as_one(errors)


def _or_none(live: Live, ref: Ref) -> Manifest | None:
    try:
        return live.get(ref)
    except NotSynced:
        return None
