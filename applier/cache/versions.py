"""Compares states of an object by resourceVersion, and tracks what watches show late or forget: our own writes, and deleted objects."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from applier.ref import GroupKind, Manifest, Ref, resource_version_of, uid_of


def is_older(manifest: Manifest, other: Manifest) -> bool | None:
    """Reports whether `one` is an earlier state than `other`; None if their versions cannot be compared.

    KEP-5504 makes resourceVersions of one resource comparable as integers; any other version stays opaque.
    """
    mine, theirs = resource_version_of(manifest), resource_version_of(other)
    if mine.isdecimal() and theirs.isdecimal():
        return int(mine) < int(theirs)
    return False if mine == theirs else None


def is_same(manifest: Manifest, other: Manifest) -> bool:
    """Reports whether two states are the same, by UID and resourceVersion."""
    return resource_version_of(manifest) == resource_version_of(other) and uid_of(manifest) == uid_of(other)


def as_of(version: str) -> Manifest:
    """Returns a manifest with only a resourceVersion, to compare a version with states."""
    return {"metadata": {"resourceVersion": version}}


class Tombstones:
    """Remembers the UIDs of the last `limit` objects that are gone, each with the version of its deletion.

    A deleted UID never comes back. But a watch with a selector also reports an object as deleted when it no longer matches, and that one
    may match again.
    """

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._dead: OrderedDict[str, str] = OrderedDict()

    def bury(self, uid: str, version: str = "") -> None:
        """Records that an object is gone as of a version; for good without one."""
        if uid:
            self._dead[uid] = version
            if len(self._dead) > self._limit:
                self._dead.popitem(last=False)

    def revive(self, uid: str) -> None:
        """Removes a UID that a list has shown to exist."""
        self._dead.pop(uid, None)

    def has(self, uid: str) -> bool:
        """Reports whether the object with this UID is gone, or was when it was last shown."""
        return uid in self._dead

    def holds(self, manifest: Manifest) -> bool:
        """Reports whether this is a state from before the object was gone."""
        version = self._dead.get(uid_of(manifest))
        return version is not None and not (version and is_older(as_of(version), manifest) is True)


MAX_STATES = 5_000
"""States that are kept; the oldest are dropped. One takes 2 kB, without the parts that it shares with other objects of the cache."""


class LabelledAs(NamedTuple):
    """Represents the objects of a kind and a namespace whose label, that by which last states are kept, has a value."""

    kind: GroupKind
    namespace: str
    value: str


class LastStates:
    """Holds the last states by owner, in the order of the deletions, until the owner is deleted as well; and the names for longer.

    `is_gone` says of a UID whether its object is: the garbage collector deletes what was owned after its owner.
    """

    def __init__(self, is_gone: Callable[[str], bool], most: int = MAX_STATES) -> None:
        self._is_gone, self._most = is_gone, most
        self._labels: dict[GroupKind, str] = {}
        self._states: dict[str, Manifest] = {}  # by UID, the oldest first
        self._by_owner: dict[str, dict[str, GroupKind]] = {}  # UIDs of deleted objects, with their kinds
        self._names: dict[LabelledAs, dict[str, None]] = {}
        self._named: OrderedDict[tuple[LabelledAs, str], None] = OrderedDict()  # the oldest first

    def keep_of(self, kind: GroupKind, label: str) -> None:
        """Keeps the last states of the objects of a kind that have a label."""
        self._labels[kind] = label

    def note(self, kind: GroupKind, manifest: Manifest) -> None:
        """Records the deletion of an object in its last state, and forgets what it owned itself."""
        self._forget_owner(uid_of(manifest))
        self.note_name(kind, manifest)
        label, metadata = self._labels.get(kind), manifest["metadata"]
        owners = [uid for owner in metadata.get("ownerReferences") or () if (uid := owner.get("uid")) and not self._is_gone(uid)]
        if label is None or label not in (metadata.get("labels") or {}) or not owners:
            return
        self._drop(uid_of(manifest))  # a list may have told of it before
        self._states[uid_of(manifest)] = manifest
        for owner in owners:
            self._by_owner.setdefault(owner, {})[uid_of(manifest)] = kind
        if len(self._states) > self._most:
            self._drop(next(iter(self._states)))

    def of(self, owner: str, kind: GroupKind) -> list[Manifest]:
        """Returns the last states of deleted objects of a kind with an owner of this UID."""
        return [self._states[uid] for uid, other in self._by_owner.get(owner, {}).items() if other == kind]

    def names(self, labelled: LabelledAs) -> list[str]:
        """Returns the names of the deleted objects that had a label of this value, whatever has become of owners."""
        return list(self._names.get(labelled, ()))

    def note_name(self, kind: GroupKind, manifest: Manifest) -> None:
        """Records the name of an object that is gone, though what we know of it need not be its last state."""
        label, metadata = self._labels.get(kind), manifest["metadata"]
        value = (metadata.get("labels") or {}).get(label) if label is not None else None
        if value is None:
            return
        labelled, name = LabelledAs(kind, metadata.get("namespace") or "", value), metadata["name"]
        self._names.setdefault(labelled, {})[name] = None
        self._named[labelled, name] = None
        self._named.move_to_end((labelled, name))
        if len(self._named) > self._most:
            (oldest, name), _ = self._named.popitem(last=False)
            del self._names[oldest][name]
            if not self._names[oldest]:
                del self._names[oldest]

    def _forget_owner(self, uid: str) -> None:
        for owned in list(self._by_owner.get(uid, ())):
            self._drop(owned)

    def _drop(self, uid: str) -> None:
        state = self._states.pop(uid, None)
        for owner in (state["metadata"].get("ownerReferences") or ()) if state is not None else ():
            owned = self._by_owner.get(owner.get("uid") or "", {})
            if owned.pop(uid, None) is not None and not owned:
                del self._by_owner[owner["uid"]]


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
