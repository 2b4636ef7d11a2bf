"""An answer that is taken piece by piece as it comes."""

from __future__ import annotations

import asyncio

from applier.http.connection import Connection
from applier.http.response import Headers


class Stream:
    """The body of an answer whose status and headers are known. `silence` is how many seconds may pass without a byte.

    It has a connection of its own, which ends with it: whoever takes a stream closes it.
    """

    def __init__(self, connection: Connection, silence: float) -> None:
        self._connection, self._silence = connection, silence

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self._connection.reader.status

    @property
    def headers(self) -> Headers:
        """The headers of the answer."""
        return self._connection.reader.headers

    async def chunk(self) -> bytes:
        """Returns the next piece, of any size; nothing at the end. Raises `TimeoutError` on silence, and `HttpError` or `OSError`."""
        async with asyncio.timeout(self._silence):
            return await self._connection.chunk()

    async def read(self) -> bytes:
        """Returns all that is left."""
        pieces = []
        while piece := await self.chunk():
            pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Ends the stream and its connection."""
        self._connection.abort()
