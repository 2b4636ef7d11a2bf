"""Parses the responses of a server."""

from __future__ import annotations

import zlib
from typing import Any

import httptools

from applier.http.response import Headers, Malformed

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
