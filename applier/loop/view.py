"""What a function from snapshot to graph sees of the cluster, and what it has asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from applier.cache import Changes, Wanted, WatchCache, as_one
from applier.errors import Forbidden
from applier.ref import GroupKind, Kind, Manifest, Ref


class Ownership(NamedTuple):
    """A question for the objects of a kind, or of all, that name a UID among their owners."""

    uid: str
    kind: GroupKind | None


class Selection(NamedTuple):
    """A question for objects of a kind by label."""

    group: str
    kind: str
    namespace: str
    selector: str


@dataclass(slots=True, eq=False)
class ReadSet:
    """All that was asked of a view: objects by name, by owner and by label, and in which kinds for any of these."""

    refs: set[Ref] = field(default_factory=set)
    owned: set[Ownership] = field(default_factory=set)
    selections: set[Selection] = field(default_factory=set)
    kinds: set[GroupKind] = field(default_factory=set)

    def count(self) -> int:
        """Returns how many questions there were."""
        return len(self.refs) + len(self.owned) + len(self.selections)


class View:
    """A cache (a `Live`) that remembers what was asked of it. Objects are read-only; nothing changes while a function looks at it.

    It never takes "I do not know" for "there is none": questions raise `NotSynced`. `since` is a time of the loop's clock: what the
    server has not confirmed after it is in doubt.
    """

    def __init__(self, cache: WatchCache, since: float = float("-inf")) -> None:
        self.read = ReadSet()
        self._cache, self._since = cache, since
        self._doubts: list[str] = []

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None when there is none. Raises `NotSynced` when that is not known."""
        self.read.refs.add(ref)
        self.read.kinds.add(ref[:2])
        return self._cache.get(ref)

    def peek(self, ref: Ref) -> Manifest | None:
        """Returns the live object, whose changes are no news for the key: whoever derives keys from changes says which of them are."""
        self.read.kinds.add(ref[:2])
        return self._cache.get(ref)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        """Returns the objects of some kinds, or of all that are watched, that name this UID among their owners. Raises `NotSynced`."""
        kinds = frozenset(kinds)
        self.read.owned.update(Ownership(uid, kind) for kind in kinds or (None,))
        self.read.kinds |= kinds or self._cache.declared
        return self._cache.by_owner(uid, kinds)

    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind that a selector picks. Raises `NotSynced`."""
        self.read.selections.add(Selection(group, kind, namespace, selector))
        self.read.kinds.add((group, kind))
        return self._cache.by_label(group, kind, selector, namespace)

    def changes(self, group: str, kind: str, label: str, value: str, namespace: str = "", since: object = None) -> Changes:
        """Returns which objects of a kind with this label have changed since the mark of an earlier answer, by name. Raises `NotSynced`.

        Further changes of any of them are news for the key, as with `by_label`.
        """
        self.read.selections.add(Selection(group, kind, namespace, f"{label}={value}"))
        self.read.kinds.add((group, kind))
        return self._cache.changes(group, kind, label, value, namespace, since)

    def doubts(self) -> list[str]:
        """Returns why what was read may not be what is there, a sentence for each kind; empty when it can be relied on.

        What was in doubt once stays so: what was worked out by then rests on what was read, whatever the server has said since.
        """
        self._doubts = self._doubts or self._cache.doubts(self.read.kinds, self._since)
        return self._doubts

    def ask(self) -> None:
        """Has the server say again what only its silence keeps in doubt, for the next look."""
        self._cache.ask(self.read.kinds, self._since)

    def unserved(self) -> set[Kind]:
        """Returns the watched kinds that the server does not serve now."""
        return self._cache.unserved()

    async def watch(self, wanted: Iterable[Wanted]) -> None:
        """Sees to it that these kinds are watched and known. Raises what keeps us from reading them.

        That does not hold for want of permission: objects of such a kind are not known, and who asks for one is told why.
        """
        wanted = tuple(wanted)
        self._cache.add(*wanted)
        errors = [error for error in (await self._cache.settled(*wanted) if wanted else ()) if not isinstance(error, Forbidden)]
        if errors:
            raise as_one(errors)
