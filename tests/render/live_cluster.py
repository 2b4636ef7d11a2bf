"""A cluster whose page is open in a browser."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from tests.serve.serving import Served, served

T = TypeVar("T")
PATIENCE = 60.0
STALLED = {
    "type": "Stalled",
    "status": "True",
    "reason": "Held",
    "message": "a <b>rule</b> fails",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


class Cluster:
    """A cluster that is served, in a thread of its own: playwright has the other one."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._ready: Future[Served] = Future()
        self._end = asyncio.Event()

    def __enter__(self) -> Cluster:
        self._thread.start()
        self._done = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)
        self.served = self._ready.result(PATIENCE)
        return self

    async def _serve(self) -> None:
        async with served() as page:
            self._ready.set_result(page)
            await self._end.wait()

    def do(self, work: Callable[[], T]) -> T:
        """Carries something out where the cluster lives."""

        async def carried_out() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(carried_out(), self._loop).result(PATIENCE)

    def end(self) -> None:
        """Ends the server."""
        self.do(self._end.set)
        self._done.result(PATIENCE)

    def __exit__(self, *_: object) -> None:
        if not self._done.done():
            self.end()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()
