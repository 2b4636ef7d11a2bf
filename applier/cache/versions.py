"""Which of two states of an object is the newer one."""

from __future__ import annotations

from collections import OrderedDict

from applier.ref import Manifest, resource_version_of, uid_of


def is_older(one: Manifest, other: Manifest) -> bool | None:
    """Whether `one` is a state before `other`; None when their versions do not say.

    KEP-5504 makes resourceVersions of one resource comparable as whole numbers; what is no number stays opaque.
    """
    mine, theirs = resource_version_of(one), resource_version_of(other)
    if mine.isdecimal() and theirs.isdecimal():
        return int(mine) < int(theirs)
    return False if mine == theirs else None


def is_same(one: Manifest, other: Manifest) -> bool:
    """Whether two states are one and the same."""
    return resource_version_of(one) == resource_version_of(other) and uid_of(one) == uid_of(other)


def as_of(version: str) -> Manifest:
    """Stands for the state that anything was in at a version."""
    return {"metadata": {"resourceVersion": version}}


class Tombstones:
    """UIDs of objects that are gone for good, the last `limit` of them: a UID never comes back."""

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._dead: OrderedDict[str, None] = OrderedDict()

    def bury(self, uid: str) -> None:
        if uid:
            self._dead[uid] = None
            if len(self._dead) > self._limit:
                self._dead.popitem(last=False)

    def revive(self, uid: str) -> None:
        """Says that we were wrong: a list is the last word."""
        self._dead.pop(uid, None)

    def __contains__(self, uid: str) -> bool:
        return uid in self._dead
