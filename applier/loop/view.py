"""What a function from snapshot to graph sees of the cluster, and which changes would make it say something else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from typing import Generic, NamedTuple, TypeVar

from applier.cache import Wanted, WatchCache
from applier.cache.selectors import selector
from applier.ref import GroupKind, Kind, Manifest, Ref

K = TypeVar("K", bound=Hashable)


class Selection(NamedTuple):
    """A question for objects of a kind by label."""

    group: str
    kind: str
    namespace: str
    selector: str


class Asked(NamedTuple):
    """What one key is interested in."""

    refs: Set[Ref]
    owners: Set[str]
    selections: Set[Selection]


class View:
    """A cache (a `Live`) that remembers what was asked of it. Objects are read-only; nothing changes while a function looks at it."""

    def __init__(self, cache: WatchCache) -> None:
        self.refs: set[Ref] = set()
        self.owners: set[str] = set()
        self.selections: set[Selection] = set()
        self.again_in: float | None = None
        self._cache = cache

    def get(self, ref: Ref) -> Manifest | None:
        """The live object, or None when there is none. Raises KeyError when its kind is not watched."""
        self.refs.add(ref)
        return self._cache.get(ref)

    def by_owner(self, uid: str) -> list[Manifest]:
        """The objects that name this UID among their owners."""
        self.owners.add(uid)
        return self._cache.by_owner(uid)

    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]:
        """The objects of a kind that a selector picks."""
        self.selections.add(Selection(group, kind, namespace, selector))
        return self._cache.by_label(group, kind, selector, namespace)

    def unserved(self) -> set[Kind]:
        """The watched kinds that the server does not serve now."""
        return self._cache.unserved()

    def again(self, seconds: float) -> None:
        """Asks to be called again after some time, whatever happens; of several times the shortest counts."""
        self.again_in = seconds if self.again_in is None else min(seconds, self.again_in)

    def questions(self) -> int:
        """How much was asked so far."""
        return len(self.refs) + len(self.owners) + len(self.selections)

    async def watch(self, wanted: Iterable[Wanted]) -> None:
        """Sees to it that these kinds are watched and known. Raises what keeps us from reading them."""
        wanted = tuple(wanted)
        self._cache.add(*wanted)
        if wanted:
            await self._cache.synced(*wanted)


class Interests(Generic[K]):
    """Which keys a change is news for: those whose function asked for the object when it was last called, and those that want it there."""

    def __init__(self) -> None:
        self._asked: dict[K, Asked] = {}
        self._by_ref: dict[Ref, set[K]] = {}
        self._by_owner: dict[str, set[K]] = {}
        self._by_kind: dict[GroupKind, dict[Selection, set[K]]] = {}

    def replace(self, key: K, view: View, wanted: Iterable[Ref]) -> None:
        """Replaces what a key is interested in by what its view was asked for, and by the objects that it wants."""
        self.drop(key)
        asked = self._asked[key] = Asked(view.refs.union(wanted), frozenset(view.owners), frozenset(view.selections))
        for ref in asked.refs:
            self._by_ref.setdefault(ref, set()).add(key)
        for uid in asked.owners:
            self._by_owner.setdefault(uid, set()).add(key)
        for selection in asked.selections:
            self._by_kind.setdefault(selection[:2], {}).setdefault(selection, set()).add(key)

    def drop(self, key: K) -> None:
        """The key is interested in nothing more."""
        asked = self._asked.pop(key, None)
        if asked is None:
            return
        for ref in asked.refs:
            _discard(self._by_ref, ref, key)
        for uid in asked.owners:
            _discard(self._by_owner, uid, key)
        for selection in asked.selections:
            _discard(self._by_kind[selection[:2]], selection, key)

    def count(self) -> int:
        """How many keys are interested in something."""
        return len(self._asked)

    def of(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> set[K]:
        """The keys that a change is news for."""
        keys = set(self._by_ref.get(ref, ()))
        states = [state for state in (old, new) if state is not None]
        for state in states:
            for owner in state["metadata"].get("ownerReferences") or ():
                keys |= self._by_owner.get(owner["uid"], set())
        for selection, interested in self._by_kind.get(ref[:2], {}).items():
            if selection.namespace in ("", ref.namespace) and any(map(selector(selection.selector).matches, states)):
                keys |= interested
        return keys


Q = TypeVar("Q", bound=Hashable)


def _discard(index: dict[Q, set[K]], what: Q, key: K) -> None:
    index[what].discard(key)
    if not index[what]:
        del index[what]
