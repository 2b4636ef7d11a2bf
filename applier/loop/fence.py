"""What keeps a writer that has lost its lease from writing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from applier.cluster import Cluster, Listing, Resource, WatchEvent
from applier.errors import ClusterError
from applier.ref import Kind, Manifest


class LeaseLost(ClusterError):
    """We may not write, as somebody else may hold the lease by now. `maybe_done`: the write had begun and was given up."""

    def __init__(self, *, maybe_done: bool = False) -> None:
        super().__init__("the lease is lost: another candidate may be writing now")
        self.maybe_done = maybe_done


class Fence:
    """Open for as long as the lease is surely ours, by our own clock and however long the answer to a renewal took.

    Writes begin before `closes` and end before `ends`; both are times of the event loop's clock.
    """

    def __init__(self) -> None:
        self.closes = self.ends = float("-inf")
        self._under_way: set[asyncio.Timeout] = set()

    def renew(self, closes: float, ends: float) -> None:
        """The lease was renewed; what is under way has longer, too."""
        self.closes, self.ends = closes, ends
        for patience in self._under_way:
            patience.reschedule(ends)

    def close(self) -> None:
        """The lease is somebody else's: nothing begins any more, and what is under way is given up."""
        self.renew(float("-inf"), asyncio.get_running_loop().time())
        self.ends = float("-inf")

    @property
    def is_open(self) -> bool:
        return asyncio.get_running_loop().time() < self.closes

    def check(self) -> None:
        """Raises `LeaseLost` when writing is not safe."""
        if not self.is_open:
            raise LeaseLost

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Surrounds one write. Raises `LeaseLost` when it may not begin, or did not end in time."""
        self.check()
        try:
            async with asyncio.timeout_at(self.ends) as patience:
                self._under_way.add(patience)
                try:
                    yield
                finally:
                    self._under_way.discard(patience)
        except TimeoutError:
            if not patience.expired():
                raise
            raise LeaseLost(maybe_done=True) from None


class FencedCluster:
    """A cluster that is written to only while a fence is open; reading is free."""

    def __init__(self, cluster: Cluster, fence: Fence) -> None:
        self.cluster, self.fence = cluster, fence

    async def resource(self, kind: Kind) -> Resource:
        return await self.cluster.resource(kind)

    async def resources(self) -> list[Resource]:
        return await self.cluster.resources()

    async def await_established(self, kinds: Iterable[Kind], timeout: float) -> None:
        await self.cluster.await_established(kinds, timeout)

    async def schemas(self, kinds: Iterable[Kind]) -> Any:
        return await self.cluster.schemas(kinds)

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        return await self.cluster.get(resource, namespace, name)

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        return await self.cluster.list(resource, namespace, labels=labels, fields=fields)

    def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        return self.cluster.watch(resource, namespace, labels=labels, resource_version=resource_version, initial=initial)

    async def apply(self, resource: Resource, manifest: Manifest, *, manager: str, force: bool = False, dry_run: bool = False) -> Manifest:
        async with self.fence.writing():
            return await self.cluster.apply(resource, manifest, manager=manager, force=force, dry_run=dry_run)

    async def create(self, resource: Resource, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        async with self.fence.writing():
            return await self.cluster.create(resource, manifest, manager=manager, dry_run=dry_run)

    async def patch(
        self, resource: Resource, namespace: str, name: str, patch: Any, *, manager: str = "", subresource: str = "", dry_run: bool = False
    ) -> Manifest:
        async with self.fence.writing():
            return await self.cluster.patch(resource, namespace, name, patch, manager=manager, subresource=subresource, dry_run=dry_run)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        resource_version: str = "",
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> None:
        async with self.fence.writing():
            await self.cluster.delete(
                resource, namespace, name, uid=uid, resource_version=resource_version, propagation=propagation, dry_run=dry_run
            )
