"""Renews a lease in a thread of its own, so that nothing that the event loop computes delays it.

A step or a review is computed without a pause. One that took longer than the lease would let another candidate write beside us. As with
client-go's goroutine, it is liveness probes that find a loop that hangs for good: the event loop answers them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from applier.cluster import Cluster
from applier.errors import ClusterError
from applier.loop.lease import Fence, Lease, OnChange

Connect = Callable[[], AbstractAsyncContextManager[Cluster]]
Candidate = Callable[[Cluster, OnChange], Lease]
PATIENCE = 5.0
"""Seconds for the thread to release the lease and to end; then it is left to the end of the process."""


class LeaseThread:
    """Represents one candidate to an event loop, as `Lease` does, while another one in a thread renews the lease.

    `connect` opens the connection of that thread, `candidate` makes the lease with it. Writes see a change of the fence at once, and those
    in flight and who waits for `held` as soon as their loop runs.
    """

    def __init__(self, connect: Connect, candidate: Candidate) -> None:
        self.fence, self.held = Fence(), asyncio.Event()
        self.error: ClusterError | None = None
        self.led_since = float("inf")
        self._connect, self._candidate = connect, candidate
        self._stop: Callable[[], object] = lambda: None
        self._released = False
        self._ended = asyncio.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    async def run(self) -> None:
        """Acquires and renews the lease until `release`. Raises what ends the thread earlier."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="lease", daemon=True)
        self._thread.start()
        await self._ended.wait()
        if self._failure is not None:
            raise self._failure

    async def release(self) -> None:
        """Aborts writes in flight, and releases the lease, so that others need not wait. Does nothing before `run`."""
        self._released = True
        self.held.clear()
        self.fence.close()
        if self._thread is not None:
            self._stop()
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._ended.wait()

    # -- in the thread ---------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            asyncio.run(self._renew())
        except BaseException as error:
            self._failure = error
        _tell(self._loop, self._ended.set)

    async def _renew(self) -> None:
        stopping, loop = asyncio.Event(), asyncio.get_running_loop()
        self._stop = lambda: _tell(loop, stopping.set)
        if self._released:
            return
        async with self._connect() as cluster:
            lease = self._candidate(cluster, self._changed)
            running, stopped = asyncio.ensure_future(lease.run()), asyncio.ensure_future(stopping.wait())
            await asyncio.wait((running, stopped), return_when=asyncio.FIRST_COMPLETED)
            running.cancel()
            stopped.cancel()
            results = await asyncio.gather(running, stopped, return_exceptions=True)
            await lease.release()
            for result in results:
                if isinstance(result, Exception):
                    raise result

    def _changed(self, lease: Lease) -> None:
        """Takes over the state of the lease: the fence at once, since a computation may end with a write before its loop runs again."""
        if self._released:
            return
        closes, ends, leads = lease.fence.closes, lease.fence.ends, lease.held.is_set()
        self.error, self.led_since = lease.error, lease.led_since
        self.fence.closes, self.fence.ends = closes, ends
        _tell(self._loop, self._follow, closes, ends, leads)

    # -- in the event loop -----------------------------------------------------------------------------------------------------

    def _follow(self, closes: float, ends: float, leads: bool) -> None:
        """Tells writes in flight and those who wait, unless a later change is on its way already."""
        if (closes, ends) != (self.fence.closes, self.fence.ends):
            return
        if closes == float("-inf"):
            self.fence.close()
        else:
            self.fence.renew(closes, ends)
        if leads:
            self.held.set()
        else:
            self.held.clear()


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: object) -> None:
    """Calls back within the loop of another thread; one that has ended need not be told."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback, *arguments)
