"""Closes connections on which nobody asks anything, so that whoever opens thousands keeps nobody else out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

UNASKED = 20.0
"""Seconds in which a new connection has to ask something, to the end of the headers."""
KEPT = 120.0
"""Seconds for which one that has asked is kept; API servers, as all Go programs, close theirs after 90."""
INTERVAL = 5.0


class Connection(Protocol):
    """A connection of the server."""

    def force_close(self) -> None:
        """Ends it."""


class IdleConnections:
    """Watches the connections of a server, until cancelled. `connections` gives those that there are."""

    def __init__(self, connections: Callable[[], Iterable[Connection]]) -> None:
        self._connections = connections
        self._ends: dict[Connection, float] = {}
        self._busy: set[Connection] = set()

    @asynccontextmanager
    async def asked(self, connection: Connection) -> AsyncIterator[None]:
        """Surrounds a request, which takes as long as it takes."""
        self._busy.add(connection)
        try:
            yield
        finally:
            self._busy.discard(connection)
            self._ends[connection] = _now() + KEPT

    async def watch(self) -> None:
        """Closes what nobody uses, every few seconds."""
        while True:
            self.close_idle()
            await asyncio.sleep(INTERVAL)

    def close_idle(self) -> None:
        """Closes what nobody uses."""
        now, before = _now(), self._ends
        self._ends = {one: before.get(one, now + UNASKED) for one in self._connections()}
        for one, end in self._ends.items():
            if end <= now and one not in self._busy:
                one.force_close()


def _now() -> float:
    return asyncio.get_running_loop().time()
