"""Carries requests over one connection, and parses the responses."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from typing import Any, cast

import httptools

from applier.http.response import ConnectionEnded, Headers, HttpError, Malformed, Response

GZIP_OR_ZLIB = zlib.MAX_WBITS | 32  # zlib detects which of the two it is
WITHOUT_BODY = (204, 304)


class Reader:
    """Parses one response after the other. `headed` is set once status and headers are known, `complete` once the body is.

    `keeps` means that the server keeps the connection open; `excess`, that it sent more than one response.
    """

    __slots__ = ("_chunks", "_decompress", "_pairs", "_parser", "complete", "excess", "headed", "headers", "keeps", "size", "status")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.excess = False
        self.expect()

    def expect(self) -> None:
        """Begins the next response."""
        self.status, self.size = 0, 0
        self.headed = self.complete = self.keeps = False
        self.headers = Headers([])
        self._pairs: list[tuple[bytes, bytes]] = []
        self._chunks: list[bytes] = []
        self._decompress: Any = None

    def feed(self, data: bytes) -> None:
        """Parses received data. Raises `Malformed`."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise Malformed("it requests another protocol") from None
        except httptools.HttpParserError as error:
            cause = error.__context__
            raise Malformed(str(cause) if isinstance(cause, zlib.error | Malformed) else str(error)) from None

    def end(self) -> bool:
        """Handles the end of the connection; returns whether the response is complete, as one without a length is then."""
        has_length = "Content-Length" in self.headers or "Transfer-Encoding" in self.headers
        if self.headed and not self.complete and not has_length:
            self._finish()
        return self.complete

    def take(self) -> bytes:
        """Returns the part of the body that was received since the last call."""
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self.size = 0
        return data

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        self.excess = self.excess or self.complete
        self._pairs = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self._pairs.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200 or self.complete:  # an interim response, or one without a request
            return
        self.status, self.headed = status, True
        self.headers = Headers(self._pairs)
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        if encoding in ("gzip", "deflate"):
            self._decompress = zlib.decompressobj(GZIP_OR_ZLIB)
        elif encoding != "identity":
            raise Malformed(f"its response has the encoding {encoding}, which was not requested")

    def on_body(self, chunk: bytes) -> None:
        if self.complete:
            return
        if self._decompress is not None:
            chunk = self._decompress.decompress(chunk)
        self._chunks.append(chunk)
        self.size += len(chunk)

    def on_message_complete(self) -> None:
        if self.headed and not self.complete:
            self.keeps = self._parser.should_keep_alive()
            self._finish()

    def _finish(self) -> None:
        if self._decompress is not None and not self._decompress.eof and self.status not in WITHOUT_BODY:
            raise Malformed("its compressed response is truncated")
        self.complete = True


BUFFER_LIMIT = 2**20  # bytes of a stream that are buffered before reading from the server is paused


class Connection(asyncio.Protocol):
    """Carries one request at a time. `lost` is done when the connection is closed; `tls` is the context that it was made with."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.tls, self.idle_since = tls, 0.0
        self.reader = Reader()
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._busy = self._streamed = self._paused = False
        self.transport: asyncio.Transport

    @property
    def reusable(self) -> bool:
        """Reports whether the last response was received completely and another request may follow."""
        reader = self.reader
        return reader.complete and reader.keeps and not reader.excess and self._error is None and not self.transport.is_closing()

    async def exchange(self, request: bytes) -> Response:
        """Sends a request and waits for the complete response."""
        reader = self._send(request)
        while not reader.complete:
            await self._more()
        self._busy = False
        return Response(reader.status, reader.headers, reader.take())

    async def begin(self, request: bytes) -> None:
        """Sends a request and waits for status and headers of the response; `chunk` returns the body."""
        reader = self._send(request)
        self._streamed = True
        while not reader.headed:
            await self._more()

    async def chunk(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        reader = self.reader
        while not reader.size and not reader.complete:
            await self._more()
        chunk = reader.take()
        if self._paused:
            self._paused = False
            self.transport.resume_reading()
        return chunk

    def abort(self) -> None:
        """Closes the connection at once. A response in progress raises `ConnectionEnded`."""
        self.transport.abort()

    def _send(self, request: bytes) -> Reader:
        self.reader.expect()
        self._busy = True
        self.transport.write(request)
        return self.reader

    async def _more(self) -> None:
        """Waits for more data. Raises the error that ended the connection."""
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            if self._error is None or self.reader.complete:
                self._waiter.set_result(None)
            else:
                self._waiter.set_exception(self._error)

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error
        self._wake()

    # Callbacks of the event loop (`asyncio.Protocol`).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if not self._busy:  # data without a request
            return self.transport.abort()
        try:
            self.reader.feed(data)
        except HttpError as error:
            self._fail(error)
            return self.transport.abort()
        if self._streamed and self.reader.size > BUFFER_LIMIT and not self.reader.complete and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        return self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        try:
            is_complete = error is None and self.reader.end()
        except HttpError as read_error:
            is_complete, error = False, read_error
        if not self.lost.done():
            self.lost.set_result(None)
        self._error = self._error or error or ConnectionEnded()
        if is_complete:
            self.reader.keeps = False
        self._wake()
