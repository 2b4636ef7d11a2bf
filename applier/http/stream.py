"""Reads a response in chunks as they arrive."""

from __future__ import annotations

import asyncio

from applier.http.connection import Connection
from applier.http.response import Headers


class Stream:
    """Reads the body of a response whose status and headers are known. `silence` is the longest time without a byte, in seconds.

    A stream has a connection of its own, which `close` closes.
    """

    def __init__(self, connection: Connection, silence: float) -> None:
        self._connection, self._silence = connection, silence

    @property
    def status(self) -> int:
        """Returns the status of the response."""
        return self._connection.reader.status

    @property
    def headers(self) -> Headers:
        """Returns the headers of the response."""
        return self._connection.reader.headers

    async def chunk(self) -> bytes:
        """Returns the next chunk, of any size; empty at the end. Raises `TimeoutError` after silence, `HttpError` and `OSError`."""
        async with asyncio.timeout(self._silence):
            return await self._connection.chunk()

    async def read(self) -> bytes:
        """Returns the rest of the body."""
        chunks = []
        while chunk := await self.chunk():
            chunks.append(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Closes the stream and its connection."""
        self._connection.abort()
