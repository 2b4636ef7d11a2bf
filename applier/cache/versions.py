"""Which of two states of an object is the newer one."""

from __future__ import annotations

from collections import OrderedDict

from applier.ref import Manifest, resource_version_of, uid_of


def is_older(one: Manifest, other: Manifest) -> bool | None:
    """Tells whether `one` is a state before `other`; None when their versions do not say.

    KEP-5504 makes resourceVersions of one resource comparable as whole numbers; what is no number stays opaque.
    """
    mine, theirs = resource_version_of(one), resource_version_of(other)
    if mine.isdecimal() and theirs.isdecimal():
        return int(mine) < int(theirs)
    return False if mine == theirs else None


def is_same(one: Manifest, other: Manifest) -> bool:
    """Tells whether two states are one and the same."""
    return resource_version_of(one) == resource_version_of(other) and uid_of(one) == uid_of(other)


def as_of(version: str) -> Manifest:
    """Stands for the state that anything was in at a version."""
    return {"metadata": {"resourceVersion": version}}


class Tombstones:
    """UIDs of objects that are gone, the last `limit` of them, each with the version as of which it is.

    A UID never comes back. But whoever watches a selection is told so also of what has left it, and that may enter it again.
    """

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._dead: OrderedDict[str, str] = OrderedDict()

    def bury(self, uid: str, version: str = "") -> None:
        """Notes that an object is gone as of a version; without one for good."""
        if uid:
            self._dead[uid] = version
            if len(self._dead) > self._limit:
                self._dead.popitem(last=False)

    def revive(self, uid: str) -> None:
        """Says that we were wrong: a list is the last word."""
        self._dead.pop(uid, None)

    def holds(self, manifest: Manifest) -> bool:
        """Tells whether this is a state of an object that is gone: one from before it went."""
        version = self._dead.get(uid_of(manifest))
        return version is not None and not (version and is_older(as_of(version), manifest) is True)
