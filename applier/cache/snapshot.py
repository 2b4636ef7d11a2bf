"""Reads the objects that a command needs once, holds them, and defines how reads and watches are requested."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from applier.cluster import Cluster, Resource, find
from applier.decision import hide_secrets
from applier.errors import ApiError, ClusterError, Forbidden, NotSynced, Unauthorized, UnknownKind
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
        self.unread: dict[tuple[str, str, str], ClusterError] = {}  # by group, kind and namespace

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None if there was none.

        Raises KeyError if it was not read, `NotSynced` if it could not be read.
        """
        found = self.objects.get(ref)
        if found is None and not self.covers(ref):
            if error := self.unread.get(ref[:3]):
                raise NotSynced(str(error))
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

    def note_unread(self, query: Query, error: ClusterError) -> None:
        """Records why objects could not be read."""
        self.unread[query.kind.group, query.kind.kind, query.namespace] = error

    def add_one(self, ref: Ref, manifest: Manifest | None) -> None:
        """Adds the answer to a GET; None for an object that does not exist."""
        self._fetched.add(ref)
        if manifest is not None:
            self.objects[ref] = manifest


FEW = 8  # objects of a kind up to which they are read one by one: a GET costs the server about 1 ms, a LIST of a thousand objects 20 ms
AT_ONCE = 16  # requests in flight


class Unread(ClusterError):
    """Reports that several kinds could not be read; `errors` holds all errors."""

    def __init__(self, errors: list[ClusterError]) -> None:
        self.errors = errors
        super().__init__("; ".join(dict.fromkeys(str(error) for error in errors)))


def as_one(errors: list[ClusterError]) -> ClusterError:
    """Returns the error if there is only one, else an `Unread` with all of them."""
    return errors[0] if len(errors) == 1 else Unread(errors)


async def read_once(
    cluster: Cluster, queries: Iterable[Query | tuple[Kind, str]], *, labels: str = "", partial: bool = False
) -> FetchedObjects:
    """Reads kinds in parallel, by LISTs, or by GETs if only a few objects are wanted or lists are forbidden.

    With `labels` only objects with these labels are read, and others stay unknown. A kind that is not served is known to have no objects.
    Raises the error of a read that failed, and `Unread` if several did. With `partial`, kinds that the server does not list are recorded in
    the snapshot as long as others can be read: reading one of them from the snapshot raises the reason.
    """
    snapshot, gate = FetchedObjects(), asyncio.Semaphore(AT_ONCE)
    unique = list(dict.fromkeys(Query(*query) for query in queries))
    results = await asyncio.gather(*(_read(cluster, query, labels, snapshot, gate) for query in unique), return_exceptions=True)
    unexpected = [result for result in results if isinstance(result, BaseException) and not isinstance(result, ClusterError)]
    errors = {query: result for query, result in zip(unique, results, strict=True) if isinstance(result, ClusterError)}
    if unexpected:
        raise unexpected[0]
    if partial and len(errors) < len(unique) and all(map(_is_of_one_kind, errors.values())):
        for query, error in errors.items():
            snapshot.note_unread(query, error)
    elif errors:
        raise next(iter(errors.values())) if len(errors) == 1 else Unread(list(errors.values()))
    return snapshot


def _is_of_one_kind(error: ClusterError) -> bool:
    """Reports whether an error concerns a single kind. An unreachable server or invalid credentials fail all kinds alike."""
    return isinstance(error, ApiError) and not isinstance(error, Unauthorized)


async def _read(cluster: Cluster, query: Query, labels: str, snapshot: FetchedObjects, gate: asyncio.Semaphore) -> None:
    try:
        resource = await cluster.resource(query.kind)
        namespace = query.namespace if resource.namespaced else ""
        names = () if labels else query.names
        if 0 < len(names) <= FEW:
            await asyncio.gather(*(_get(cluster, resource, namespace, name, snapshot, gate) for name in names))
            return
        try:
            async with gate:
                listing = await cluster.list(resource, namespace, labels=labels)
        except Forbidden:
            # A role that allows only `get` must suffice for objects read by name, however many they are.
            if not names:
                raise
            await asyncio.gather(*(_get(cluster, resource, namespace, name, snapshot, gate) for name in names))
            return
    except UnknownKind:
        snapshot.unserved.add(query.kind)
        snapshot.add_all(query.kind, "", [])
        return
    snapshot.add_all(query.kind, namespace, [hide_secrets(item) for item in listing.items], complete=not labels)


async def _get(cluster: Cluster, resource: Resource, namespace: str, name: str, snapshot: FetchedObjects, gate: asyncio.Semaphore) -> None:
    async with gate:
        found = await find(cluster, resource, namespace, name)
    ref = Ref(resource.kind.group, resource.kind.kind, namespace, name)
    snapshot.add_one(ref, hide_secrets(found) if found is not None else None)
