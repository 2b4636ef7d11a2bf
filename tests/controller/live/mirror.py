"""What there is in a namespace, kept by watches: whoever asks for it all the time leaves the servers no time for anything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import repeat

from applier.cluster import Cluster, Listing, Resource
from applier.ref import Kind, Manifest, Ref
from applier.reflector import list_and_watch


class Mirror:
    """The objects of some kinds in a namespace."""

    def __init__(self) -> None:
        self._objects: dict[Ref, Manifest] = {}
        self._changed = 0.0

    async def at_rest(self, seconds: float) -> list[Manifest]:
        """What there is once nothing has changed for so long."""
        clock = asyncio.get_running_loop().time
        since = clock()
        while (left := max(since, self._changed) + seconds - clock()) > 0:
            await asyncio.sleep(left)
        return list(self._objects.values())

    async def follow(self, cluster: Cluster, resource: Resource, namespace: str, known: asyncio.Event) -> None:
        """Keeps the objects of a kind; sets the event once it has the first of them."""
        async for change in list_and_watch(cluster, resource, namespace):
            if isinstance(change, Listing):
                self._objects = {ref: one for ref, one in self._objects.items() if ref.kind != resource.kind.kind}
                self._objects |= {Ref.of(one): one for one in change.items}
                known.set()
            elif change.type == "DELETED":
                self._objects.pop(Ref.of(change.object), None)
            elif change.type in ("ADDED", "MODIFIED"):
                self._objects[Ref.of(change.object)] = change.object
            else:
                continue
            self._changed = asyncio.get_running_loop().time()


@asynccontextmanager
async def mirrored(cluster: Cluster, kinds: Iterable[Kind], namespace: str) -> AsyncIterator[Mirror]:
    """Follows some kinds, of which no two have one name, until the block ends."""
    mirror = Mirror()
    resources = [await cluster.resource(kind) for kind in kinds]
    known = [asyncio.Event() for _ in resources]
    async with asyncio.TaskGroup() as group:
        following = [group.create_task(mirror.follow(cluster, *each)) for each in zip(resources, repeat(namespace), known, strict=False)]
        for one in known:
            await one.wait()
        yield mirror
        for task in following:
            task.cancel()
