"""Tracks our own writes until the watches show them, so that a cache is never older than our last write."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from applier.cache.versions import as_of, is_older
from applier.ref import Manifest, Ref, resource_version_of, uid_of


class PendingWrite(NamedTuple):
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
        self._pending: dict[Ref, PendingWrite] = {}
        self._since_list: set[Ref] = set()  # written since the start of the last list that would show it
        self._deleted: dict[str, Ref] = {}  # by UID: deleted since then

    def wrote(self, ref: Ref, manifest: Manifest) -> None:
        """Records a state that we wrote, and that the cache shows."""
        self._pending[ref] = PendingWrite(resource_version_of(manifest), self.now(), deleted=False)
        self._since_list.add(ref)

    def deleted(self, ref: Ref, manifest: Manifest) -> None:
        """Records an object that we deleted, and that the cache no longer shows."""
        self._pending[ref] = PendingWrite(resource_version_of(manifest), self.now(), deleted=True)
        self._since_list.discard(ref)
        self._deleted[uid_of(manifest)] = ref

    def observe(self, ref: Ref, manifest: Manifest, *, gone: bool = False) -> None:
        """Records that a watch has shown a state of an object, or with `gone` its deletion."""
        write = self._pending.get(ref)
        if write is not None and (gone or _includes(manifest, write)):
            del self._pending[ref]
        if gone:
            self._since_list.discard(ref)
            self._deleted.pop(uid_of(manifest), None)

    def begin_list(self, group: str, kind: str, namespace: str) -> None:
        """Records that a list begins, which will show everything written until now."""

        def is_listed(ref: Ref) -> bool:
            return ref[:2] == (group, kind) and namespace in ("", ref.namespace)

        self._since_list = {ref for ref in self._since_list if not is_listed(ref)}
        self._deleted = {uid: ref for uid, ref in self._deleted.items() if not is_listed(ref)}

    def end_list(self, group: str, kind: str, namespace: str, version: str) -> None:
        """Records that a list has shown everything up to a version."""
        for ref, write in list(self._pending.items()):
            is_listed = ref[:2] == (group, kind) and namespace in ("", ref.namespace)
            if is_listed and is_older(as_of(version), as_of(write.version)) is not True:
                del self._pending[ref]

    def is_newer(self, ref: Ref, known: Manifest, version: str) -> bool:
        """Reports whether we wrote the known state after the state of a list with this version."""
        return ref in self._since_list and is_older(as_of(version), known) is not False

    def has_deleted(self, uid: str) -> bool:
        """Reports whether we deleted an object since the last list began."""
        return uid in self._deleted

    def lag(self) -> float:
        """Returns the age, in seconds, of our oldest write that no watch has shown yet; 0 without one."""
        return self.now() - min(write.since for write in self._pending.values()) if self._pending else 0.0


def _includes(manifest: Manifest, write: PendingWrite) -> bool:
    """Reports whether a state of an object includes our write."""
    written = as_of(write.version)
    return is_older(written, manifest) is True if write.deleted else is_older(manifest, written) is not True
