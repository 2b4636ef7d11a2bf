"""Closes idle connections, so that a client that opens thousands does not exhaust the server's descriptors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

FIRST_REQUEST = 20.0
"""Seconds within which a new connection has to send the headers of a request."""
KEEP_ALIVE = 120.0
"""Seconds for which a connection stays open after a request. Clients in Go, such as API servers, close theirs after 90."""
INTERVAL = 5.0


class ServerConnection(Protocol):
    """A connection of the server."""

    def force_close(self) -> None:
        """Closes the connection."""


class IdleConnections:
    """Closes idle connections of a server; `connections` returns the open ones."""

    def __init__(self, connections: Callable[[], Iterable[ServerConnection]]) -> None:
        self._connections = connections
        self._ends: dict[ServerConnection, float] = {}
        self._busy: set[ServerConnection] = set()

    @asynccontextmanager
    async def in_request(self, connection: ServerConnection) -> AsyncIterator[None]:
        """Marks a connection as busy with a request while entered."""
        self._busy.add(connection)
        try:
            yield
        finally:
            self._busy.discard(connection)
            self._ends[connection] = _now() + KEEP_ALIVE

    async def watch(self) -> None:
        """Closes idle connections every `INTERVAL` seconds, until cancelled."""
        while True:
            self.close_idle()
            await asyncio.sleep(INTERVAL)

    def close_idle(self) -> None:
        """Closes idle connections once."""
        now, before = _now(), self._ends
        self._ends = {connection: before.get(connection, now + FIRST_REQUEST) for connection in self._connections()}
        for connection, end in self._ends.items():
            if end <= now and connection not in self._busy:
                connection.force_close()


def _now() -> float:
    return asyncio.get_running_loop().time()
