"""Keeps a candidate that has lost its lease from writing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from applier.cluster import Cluster, WrappedCluster
from applier.errors import ClusterError

T = TypeVar("T")


class LeaseLost(ClusterError):
    """Reports that we may not write, because another candidate may hold the lease. `maybe_done`: the write had begun and was aborted."""

    def __init__(self, *, maybe_done: bool = False) -> None:
        super().__init__("the lease is lost: another candidate may be writing now")
        self.maybe_done = maybe_done


class Fence:
    """Admits writes while the lease is certainly ours, by our own clock and however long the answer to a renewal took.

    Writes begin before `closes` and end before `ends`; both are times of the event loop's clock.
    """

    def __init__(self) -> None:
        self.closes = self.ends = float("-inf")
        self._in_flight: set[asyncio.Timeout] = set()

    def renew(self, closes: float, ends: float) -> None:
        """Extends the fence after a renewal of the lease, for writes in flight as well."""
        self.closes, self.ends = closes, ends
        for deadline in self._in_flight:
            if not deadline.expired():  # one that has expired is being aborted, which cannot be undone
                deadline.reschedule(ends)

    def close(self) -> None:
        """Closes the fence and aborts writes in flight: another candidate has the lease."""
        self.renew(float("-inf"), asyncio.get_running_loop().time())
        self.ends = float("-inf")

    @property
    def is_open(self) -> bool:
        return asyncio.get_running_loop().time() < self.closes

    def check(self) -> None:
        """Raises `LeaseLost` if writing is not safe."""
        if not self.is_open:
            raise LeaseLost

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Guards one write. Raises `LeaseLost` if it may not begin, or did not end in time."""
        self.check()
        try:
            async with asyncio.timeout_at(self.ends) as deadline:
                self._in_flight.add(deadline)
                try:
                    yield
                finally:
                    self._in_flight.discard(deadline)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise LeaseLost(maybe_done=True) from None


class FencedCluster(WrappedCluster):
    """Wraps a cluster so that it is written to only while a fence is open; reads are not restricted."""

    def __init__(self, cluster: Cluster, fence: Fence) -> None:
        super().__init__(cluster)
        self.fence = fence

    async def write(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self.fence.writing():
            return await request()
