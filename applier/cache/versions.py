"""Compares states of an object by resourceVersion."""

from __future__ import annotations

from collections import OrderedDict

from applier.ref import Manifest, resource_version_of, uid_of


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
