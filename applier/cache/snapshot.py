"""Holds objects that were read of a cluster once, and defines how reads and watches are requested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from applier.errors import NotSynced
from applier.ref import Kind, Manifest, Ref


class Query(NamedTuple):
    """Requests a read or watch of a kind, in one namespace or in all; with `names`, of these objects only.

    `managed` keeps managedFields, about half of an object's size, which are only needed to plan applies. An `optional` kind that the server
    does not serve is known to have no objects; any other such kind stays unknown, since a server that has just started may not have loaded
    its definitions yet. `labels` is a selector: to a watch, objects that do not match do not exist. `metadata_only` watches only metadata.
    A watch keeps the last states of deleted objects that have the label `keeps_deleted`, for `WatchCache.deleted`.
    """

    kind: Kind
    namespace: str = ""
    names: tuple[str, ...] = ()
    managed: bool = True
    optional: bool = False
    labels: str = ""
    metadata_only: bool = False
    keeps_deleted: str = ""


def by_place(objects: Iterable[tuple[Kind, Ref]]) -> list[Query]:
    """Groups objects by kind and namespace, as the reads that are needed to know them."""
    names: dict[tuple[Kind, str], dict[str, None]] = {}
    for kind, ref in objects:
        names.setdefault((kind, ref.namespace), {})[ref.name] = None
    return [Query(kind, namespace, tuple(in_place)) for (kind, namespace), in_place in names.items()]


class FetchedObjects:
    """Holds objects as they were read (a `Live`). An object that was not read is never reported as absent: reading it is a KeyError."""

    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.unserved: set[Kind] = set()  # kinds that the server does not serve, so that no object of them exists
        self._listed: set[tuple[str, str, str]] = set()
        self._fetched: set[Ref] = set()
        self._unread: dict[tuple[str, str, str], str] = {}

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None if there was none.

        Raises KeyError if it was not read, `NotSynced` if it could not be read.
        """
        found = self.objects.get(ref)
        if found is None and not self.covers(ref):
            if reason := self._unread.get(ref[:3]):
                raise NotSynced(reason)
            raise KeyError(f"{ref} was not read")
        return found

    def covers(self, ref: Ref) -> bool:
        """Reports whether the snapshot knows if this object existed."""
        group, kind, namespace, _ = ref
        return ref in self._fetched or (group, kind, "") in self._listed or (group, kind, namespace) in self._listed

    def of(self, group: str, kind: str, namespace: str = "") -> Iterator[Manifest]:
        """Yields the read objects of a kind, of one namespace or of all."""
        for ref, manifest in self.objects.items():
            if ref[:2] == (group, kind) and namespace in ("", ref.namespace):
                yield manifest

    def add_all(self, kind: Kind, namespace: str, manifests: list[Manifest], *, complete: bool = True) -> None:
        """Adds a list. If it is `complete`, no other objects of the kind exist."""
        if complete:
            self._listed.add((kind.group, kind.kind, namespace))
        for manifest in manifests:
            self.objects[Ref.of(manifest)] = manifest

    def note_unread(self, query: Query, reason: str) -> None:
        """Records why objects could not be read."""
        self._unread[query.kind.group, query.kind.kind, query.namespace] = reason

    def add_one(self, ref: Ref, manifest: Manifest | None) -> None:
        """Adds the answer to a GET; None for an object that does not exist."""
        self._fetched.add(ref)
        if manifest is not None:
            self.objects[ref] = manifest
