"""Reading what a run needs to know once, without a watch: what a command does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from applier.cache.snapshot import Snapshot, Wanted
from applier.cluster import Cluster, Resource, find
from applier.decision import hide_secrets
from applier.errors import ClusterError, UnknownKind
from applier.ref import Kind, Ref

FEW = 8  # objects of a kind; a GET of one costs the server about 1 ms, a LIST of a thousand 20 ms
AT_ONCE = 16


class Unread(ClusterError):
    """Several kinds could not be read; `errors` has them all."""

    def __init__(self, errors: list[ClusterError]) -> None:
        self.errors = errors
        super().__init__("; ".join(dict.fromkeys(str(error) for error in errors)))


async def read_once(cluster: Cluster, wanted: Iterable[Wanted | tuple[Kind, str]], *, labels: str = "") -> Snapshot:
    """Reads kinds by LISTs, or by GETs where a few objects are wanted; in parallel.

    With `labels` only objects with these labels are read, and the snapshot does not claim to know the rest. A kind that is not served is
    known to have no objects. Raises the error of a read that failed, and `Unread` when several did.
    """
    snapshot, gate = Snapshot(), asyncio.Semaphore(AT_ONCE)
    reads = [_read(cluster, one, labels, snapshot, gate) for one in dict.fromkeys(Wanted(*one) for one in wanted)]
    results = await asyncio.gather(*reads, return_exceptions=True)
    unexpected = [result for result in results if isinstance(result, BaseException) and not isinstance(result, ClusterError)]
    errors = [result for result in results if isinstance(result, ClusterError)]
    if unexpected:
        raise unexpected[0]
    if errors:
        raise errors[0] if len(errors) == 1 else Unread(errors)
    return snapshot


async def _read(cluster: Cluster, wanted: Wanted, labels: str, snapshot: Snapshot, gate: asyncio.Semaphore) -> None:
    try:
        resource = await cluster.resource(wanted.kind)
        namespace = wanted.namespace if resource.namespaced else ""
        if wanted.names and len(wanted.names) <= FEW and not labels:
            await asyncio.gather(*(_get(cluster, resource, namespace, name, snapshot, gate) for name in wanted.names))
            return
        async with gate:
            listing = await cluster.list(resource, namespace, labels=labels)
    except UnknownKind:
        snapshot.unserved.add(wanted.kind)
        snapshot.add_all(wanted.kind, "", [])
        return
    snapshot.add_all(wanted.kind, namespace, [hide_secrets(item) for item in listing.items], whole=not labels)


async def _get(cluster: Cluster, resource: Resource, namespace: str, name: str, snapshot: Snapshot, gate: asyncio.Semaphore) -> None:
    async with gate:
        found = await find(cluster, resource, namespace, name)
    ref = Ref(resource.kind.group, resource.kind.kind, namespace, name)
    snapshot.add_one(ref, hide_secrets(found) if found is not None else None)
