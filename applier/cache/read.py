"""Reads the objects that a command needs once, without a watch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from applier.cache.snapshot import FetchedObjects, Query
from applier.cluster import Cluster, Resource, find
from applier.decision import hide_secrets
from applier.errors import ApiError, ClusterError, Forbidden, Unauthorized, UnknownKind
from applier.ref import Kind, Ref

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
    Raises the error of a read that failed, and `Unread` if several did. With `partial`, kinds that the server refuses are recorded in
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
            snapshot.note_unread(query, str(error))
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
