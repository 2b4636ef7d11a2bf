"""Tracks our own writes until the watches show them, so that a cache is never older than our last write."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from applier.cache.versions import as_of, is_older
from applier.ref import Manifest, Ref, resource_version_of, uid_of


class Untold(NamedTuple):
    """Represents a write of ours that no watch event has shown yet. `version` is its result's; for a delete, the deleted object's."""

    version: str
    since: float
    deleted: bool


class OwnWrites:
    """Tracks our writes from their answers until the watch shows them, and while a list that does not show them may be in flight.

    `now` is a clock in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._untold: dict[Ref, Untold] = {}
        self._since_list: set[Ref] = set()  # written since the last list that would show it began
        self._deleted: dict[str, Ref] = {}  # UIDs of what was deleted since then

    def wrote(self, ref: Ref, manifest: Manifest) -> None:
        """Records a state that we wrote, and that the cache shows."""
        self._untold[ref] = Untold(resource_version_of(manifest), self.now(), deleted=False)
        self._since_list.add(ref)

    def deleted(self, ref: Ref, manifest: Manifest) -> None:
        """Records an object that we deleted, and that the cache no longer shows."""
        self._untold[ref] = Untold(resource_version_of(manifest), self.now(), deleted=True)
        self._since_list.discard(ref)
        self._deleted[uid_of(manifest)] = ref

    def told(self, ref: Ref, manifest: Manifest, *, gone: bool = False) -> None:
        """Records that a watch has shown a state of an object, or with `gone` its deletion."""
        untold = self._untold.get(ref)
        if untold is not None and (gone or _tells(manifest, untold)):
            del self._untold[ref]
        if gone:
            self._since_list.discard(ref)
            self._deleted.pop(uid_of(manifest), None)

    def list_begins(self, group: str, kind: str, namespace: str) -> None:
        """Records that a list begins, which will show everything written until now."""

        def is_listed(ref: Ref) -> bool:
            return ref[:2] == (group, kind) and namespace in ("", ref.namespace)

        self._since_list = {ref for ref in self._since_list if not is_listed(ref)}
        self._deleted = {uid: ref for uid, ref in self._deleted.items() if not is_listed(ref)}

    def listed(self, group: str, kind: str, namespace: str, version: str) -> None:
        """Records that a list has shown everything up to a version."""
        for ref, untold in list(self._untold.items()):
            is_listed = ref[:2] == (group, kind) and namespace in ("", ref.namespace)
            if is_listed and is_older(as_of(version), as_of(untold.version)) is not True:
                del self._untold[ref]

    def is_newer(self, ref: Ref, known: Manifest, version: str) -> bool:
        """Tells whether we wrote the known state after the state of a list with this version."""
        return ref in self._since_list and is_older(as_of(version), known) is not False

    def has_deleted(self, uid: str) -> bool:
        """Tells whether we deleted an object since the last list began."""
        return uid in self._deleted

    def lag(self) -> float:
        """Returns the age, in seconds, of our oldest write that no watch has shown yet; 0 without one."""
        return self.now() - min(untold.since for untold in self._untold.values()) if self._untold else 0.0


def _tells(manifest: Manifest, untold: Untold) -> bool:
    """Tells whether a state of an object includes our write."""
    written = as_of(untold.version)
    return is_older(written, manifest) is True if untold.deleted else is_older(manifest, written) is not True
