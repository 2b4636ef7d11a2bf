"""Watches objects until a condition of the caller is met."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from applier.cluster import Cluster, Listing, Resource, WatchEvent
from applier.ref import Kind, Manifest, Ref
from applier.reflector import list_and_watch

Seen = Callable[[Ref, Manifest | None], None]
"""Receives the current state of an object; None when it does not exist."""


@dataclass(slots=True, eq=False)
class ReadinessWatch:
    """Watches some objects of one kind in one namespace. `seen` receives the state of each at first, and every change after that.

    `labels` is a selector that they match. With `may_differ`, some may not match: then all objects of the kind are read instead.
    """

    cluster: Cluster
    resource: Resource
    namespace: str
    refs: frozenset[Ref]
    seen: Seen
    labels: str = ""
    may_differ: bool = False

    async def run(self) -> None:
        """Watches until it is cancelled. Raises `ClusterError` when the server denies it."""
        while not await self._heard_all():
            self.labels = ""

    async def _heard_all(self) -> bool:
        """Watches; returns only when some of the objects do not match our labels, although they may exist."""
        async with aclosing(list_and_watch(self.cluster, self.resource, self.namespace, labels=self.labels)) as told:
            async for news in told:
                if isinstance(news, WatchEvent):
                    self._take(news)
                elif not self._state(news):
                    return False
        return True

    def _state(self, listing: Listing) -> bool:
        """Passes the state of each object on; returns whether all are known."""
        live = {Ref.of(manifest): manifest for manifest in listing.items}
        if self.may_differ and self.labels and not self.refs <= live.keys():
            return False
        for ref in self.refs:
            self.seen(ref, live.get(ref))
        return True

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
    """Watches these objects until `done` is set; returns whether it was within `seconds`. See `ReadinessWatch` for the other parameters.

    Raises `UnknownKind`, and `ClusterError` when the server denies the watch.
    """
    places: dict[tuple[Resource, str], set[Ref]] = {}
    for manifest in manifests:
        ref = Ref.of(manifest)
        places.setdefault((await cluster.resource(Kind.of(manifest)), ref.namespace), set()).add(ref)
    tasks = [
        asyncio.ensure_future(ReadinessWatch(cluster, resource, namespace, frozenset(refs), seen, labels, may_differ).run())
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
