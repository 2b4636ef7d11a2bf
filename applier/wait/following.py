"""Follows some objects through watches that are taken up again whenever they break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from applier.backoff import Backoff
from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import Gone, ServerFailure, TooManyRequests, Unreachable
from applier.ref import Kind, Manifest, Ref, resource_version_of

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # seconds before a broken watch is taken up again: at first, and at most

Seen = Callable[[Ref, Manifest | None], None]
"""Takes an object as it is now; None where there is none."""


@dataclass(slots=True, eq=False)
class Following:
    """Some objects of one kind in one namespace. `seen` is told the state of each at first, and every change after that.

    `labels` is a selector that they match. With `may_differ`, some may not: then all objects of the kind are read instead.
    """

    cluster: Cluster
    resource: Resource
    namespace: str
    refs: frozenset[Ref]
    seen: Seen
    labels: str = ""
    may_differ: bool = False

    async def run(self) -> None:
        """Follows until it is cancelled. Raises `ClusterError` when the server refuses."""
        backoff, version = Backoff(FIRST_WAIT, LONGEST_WAIT), ""
        while True:
            began = version
            try:
                version = version or await self._list()
                async for event in self.cluster.watch(self.resource, self.namespace, labels=self.labels, resource_version=version):
                    self._take(event)
                    backoff.reset()
                    version = resource_version_of(event.object)
            except Gone:
                version = ""
            except (Unreachable, TooManyRequests, ServerFailure):
                began = version
            if version == began:  # nothing was learnt: a server in trouble is not asked again at once
                await asyncio.sleep(backoff.next())

    async def _list(self) -> str:
        """Tells the state of each object; the version to watch from."""
        listing = await self.cluster.list(self.resource, self.namespace, labels=self.labels)
        live = {Ref.of(manifest): manifest for manifest in listing.items}
        if self.may_differ and self.labels and not self.refs <= live.keys():
            self.labels = ""
            return await self._list()
        for ref in self.refs:
            self.seen(ref, live.get(ref))
        return listing.resource_version

    def _take(self, event: WatchEvent) -> None:
        if event.type != "BOOKMARK" and (ref := Ref.of(event.object)) in self.refs:
            self.seen(ref, None if event.type == "DELETED" else event.object)


async def follow(
    manifests: Iterable[Manifest],
    cluster: Cluster,
    seen: Seen,
    done: asyncio.Event,
    *,
    seconds: float,
    labels: str = "",
    may_differ: bool = False,
) -> bool:
    """Follows these objects until `done` is set; says whether it was within `seconds`. The rest is as for `Following`.

    Raises `UnknownKind`, and `ClusterError` when the server refuses to be watched.
    """
    places: dict[tuple[Resource, str], set[Ref]] = {}
    for manifest in manifests:
        ref = Ref.of(manifest)
        places.setdefault((await cluster.resource(Kind.of(manifest)), ref.namespace), set()).add(ref)
    tasks = [
        asyncio.ensure_future(Following(cluster, resource, namespace, frozenset(refs), seen, labels, may_differ).run())
        for (resource, namespace), refs in places.items()
    ]
    end = asyncio.ensure_future(done.wait())
    try:
        ended, _ = await asyncio.wait([end, *tasks], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
        return done.is_set()
    finally:
        for task in (end, *tasks):
            task.cancel()
        await asyncio.gather(end, *tasks, return_exceptions=True)
