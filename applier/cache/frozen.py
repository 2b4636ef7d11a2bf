"""Shows a cache as it was at one moment to a function that runs in a thread, while the event loop goes on changing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from applier.cache.journal import Changes
from applier.cache.watch_cache import WatchCache
from applier.ref import GroupKind, Kind, Manifest, Ref, owner_uids, uid_of
from kube_objects.label_selector import selector as read_selector


class FrozenCache:
    """Answers as its `WatchCache` would have when this was created, until `release`.

    What changes is noted right before it does. So what a thread reads was current if it is not noted after the read, and else the noted
    state was. Two things are not exact: `changes` knows of none, and `deleted` lacks what the deletion of its owner has made it forget.
    """

    def __init__(self, cache: WatchCache) -> None:
        self._cache, self.declared = cache, cache.declared
        self._before: dict[Ref, Manifest | None] = {}
        self._stop = cache.note_before(self._note)

    def release(self) -> dict[Ref, Manifest | None]:
        """Ends it; returns the former state of each object that has changed since, None for a new one."""
        self._stop()
        return self._before

    def get(self, ref: Ref) -> Manifest | None:
        found = self._cache.get(ref)  # first: what is noted afterwards was current when it was read
        return self._before.get(ref, found)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        kinds = frozenset(kinds)
        found = self._cache.by_owner(uid, kinds)
        return self._as_before(found, lambda ref, old: (not kinds or ref[:2] in kinds) and uid in owner_uids(old))

    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]:
        found, wanted = self._cache.by_label(group, kind, selector, namespace), read_selector(selector)
        return self._as_before(
            found, lambda ref, old: ref[:2] == (group, kind) and namespace in ("", ref.namespace) and wanted.matches(old)
        )

    def deleted(self, uid: str, group: str, kind: str) -> list[Manifest]:
        found = self._cache.deleted(uid, group, kind)
        existed = {uid_of(old) for old in list(self._before.values()) if old is not None}
        return [state for state in found if uid_of(state) not in existed]

    def deleted_names(self, group: str, kind: str, value: str, namespace: str) -> list[str]:
        """Returns also names of what was deleted since: these existed, so that they are no less taken."""
        return self._cache.deleted_names(group, kind, value, namespace)

    def changes(self, *_: object) -> Changes:
        """Knows of no changes: a mark would be of now, and not of then, so that there is none."""
        return Changes(None, None)

    def unserved(self) -> set[Kind]:
        return self._cache.unserved()

    def _note(self, ref: Ref, old: Manifest | None) -> None:
        self._before.setdefault(ref, old)

    def _as_before(self, found: list[Manifest], matches: Callable[[Ref, Manifest], bool]) -> list[Manifest]:
        """Returns what was found with the noted states instead of the later ones, in the same order."""
        if not self._before:
            return found
        before = dict(self._before)  # at once, since the event loop adds to it
        kept = [one for one in found if Ref.of(one) not in before]
        old = [state for ref, state in before.items() if state is not None and matches(ref, state)]
        return sorted([*kept, *old], key=Ref.of) if old else kept
