"""Implements the cache of watches on objects that were read once, from a cluster or a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from applier.cache import Changes, WatchCache
from applier.cache.objects import ObjectStore
from applier.loop import View
from applier.ref import GroupKind, Kind, Manifest, Ref
from kube_objects.label_selector import selector


class RecordedCache:
    """A cache of objects that do not change."""

    def __init__(self, objects: Iterable[Manifest], unserved: Iterable[Kind]) -> None:
        self._objects, self._unserved, self.declared = ObjectStore(), set(unserved), frozenset[GroupKind]()
        for manifest in objects:
            self.add(manifest)

    def add(self, manifest: Manifest) -> None:
        """Adds an object that was read later."""
        self._objects.observe(manifest)

    def get(self, ref: Ref) -> Manifest | None:
        """See `View.get`. Objects that were not read do not exist."""
        return self._objects.get(ref)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        """See `View.by_owner`."""
        return self._objects.by_owner(uid, frozenset(kinds))

    def deleted(self, *_: str) -> list[Manifest]:
        """See `View.deleted`. Nothing was watched, so that nothing was seen to be deleted."""
        return []

    def by_label(self, group: str, kind: str, wanted: str = "", namespace: str = "") -> list[Manifest]:
        """See `View.by_label`."""
        return self._objects.of(group, kind, namespace, selector(wanted))

    def changes(self, *_: object) -> Changes:
        """See `View.changes`. Each key is evaluated once, so that no caller has an earlier mark."""
        return Changes(None, None)

    def unserved(self) -> set[Kind]:
        """The kinds that the server does not serve."""
        return self._unserved

    def view(self) -> View:
        """Returns a view of the objects for a step."""
        return View(cast("WatchCache", self))  # a view calls no other methods of the cache
