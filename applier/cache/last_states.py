"""Keeps the last states of deleted objects, for those who have to know how an object ended that was gone before they looked."""

from __future__ import annotations

from collections.abc import Callable

from applier.ref import GroupKind, Manifest, uid_of

MAX_STATES = 5_000
"""States that are kept; the oldest are dropped. One takes 2 kB, without the parts that it shares with other objects of the cache."""


class LastStates:
    """Holds the last states by owner, in the order of the deletions, until the owner is deleted as well.

    `is_gone` says of a UID whether its object is: the garbage collector deletes what was owned after its owner.
    """

    def __init__(self, is_gone: Callable[[str], bool], most: int = MAX_STATES) -> None:
        self._is_gone, self._most = is_gone, most
        self._labels: dict[GroupKind, str] = {}
        self._states: dict[str, Manifest] = {}  # by UID, the oldest first
        self._by_owner: dict[str, dict[str, GroupKind]] = {}  # UIDs of deleted objects, with their kinds

    def keep_of(self, kind: GroupKind, label: str) -> None:
        """Keeps the last states of the objects of a kind that have a label."""
        self._labels[kind] = label

    def note(self, kind: GroupKind, manifest: Manifest) -> None:
        """Records the deletion of an object in its last state, and forgets what it owned itself."""
        self._forget_owner(uid_of(manifest))
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

    def _forget_owner(self, uid: str) -> None:
        for owned in list(self._by_owner.get(uid, ())):
            self._drop(owned)

    def _drop(self, uid: str) -> None:
        state = self._states.pop(uid, None)
        for owner in (state["metadata"].get("ownerReferences") or ()) if state is not None else ():
            owned = self._by_owner.get(owner.get("uid") or "", {})
            if owned.pop(uid, None) is not None and not owned:
                del self._by_owner[owner["uid"]]
