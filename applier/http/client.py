"""Sends requests to one server over pooled connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from applier.http.connection import Connection
from applier.http.dial import Address, Proxy, dial
from applier.http.response import Headers, Response

KEEP_ALIVE = 60.0  # seconds for which an idle connection is reused; servers and load balancers close theirs some time after that
CLOSE_TIMEOUT = 1.0  # seconds in which the event loop releases closed connections


class Request(NamedTuple):
    """Represents a request. `target` is its path and query, encoded."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Client:
    """Sends requests to a server, one at a time on each connection; used inside one event loop.

    `server` is its URL, whose path is prepended to that of every request. `tls` is the context for an https server; connections made with
    another context are not reused. Nothing is retried, and no redirect followed. `connect` is the time-out of connecting in seconds.
    `headers` are sent with every request; several may have the same name.
    """

    def __init__(
        self, server: str, *, proxy: str = "", server_name: str = "", headers: Collection[tuple[str, str]] = (), connect: float = 10.0
    ) -> None:
        parts = urlsplit(server)
        self.encrypted = parts.scheme == "https"
        port = parts.port or (443 if self.encrypted else 80)
        self.address = Address(parts.hostname or "", port, server_name, Proxy.of(proxy) if proxy else None)
        self.tls: ssl.SSLContext | None = None
        self._connect = connect
        self._prefix = parts.path.rstrip("/")
        lines = [("Host", parts.netloc.rpartition("@")[2]), *headers]
        via = self.address.proxy
        if via and via.speaks_http and not self.encrypted:
            self._prefix = f"http://{self.address.authority}{self._prefix}"
            lines += [("Proxy-Authorization", via.authorization)] if via.authorization else []
        self._head = _lines(lines)
        self._idle: list[Connection] = []
        self._open_connections: set[Connection] = set()

    @property
    def connections(self) -> int:
        """Returns the number of open connections, idle ones included."""
        return len(self._open_connections)

    async def call(self, request: Request, timeout: float) -> Response:
        """Sends a request and returns the complete response, whatever its status, within `timeout` seconds.

        Raises `HttpError`, `OSError`, `TimeoutError`.
        """
        data = self._bytes(request)
        async with asyncio.timeout(timeout):
            connection = await self._take()
            try:
                response = await connection.exchange(data)
            except BaseException:
                connection.abort()
                raise
        self._put_back(connection)
        return response

    async def open(self, request: Request, timeout: float, silence: float) -> Stream:
        """Sends a request and returns the response as a stream, once its status and headers have arrived, within `timeout` seconds.

        Raises the errors of `call`. A stream without a byte for `silence` seconds times out.
        """
        data = self._bytes(request)
        async with asyncio.timeout(timeout):
            connection = await self._take()
            try:
                await connection.begin(data)
            except BaseException:
                connection.abort()
                raise
        return Stream(connection, silence)

    async def close(self) -> None:
        """Closes all connections."""
        connections = list(self._open_connections)
        for connection in connections:
            connection.abort()
        if connections:
            await asyncio.wait([connection.lost for connection in connections], timeout=CLOSE_TIMEOUT)

    async def _take(self) -> Connection:
        """Returns the most recently used idle connection, or else a new one."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and connection.tls is self.tls and now - connection.idle_since < KEEP_ALIVE:
                return connection
            connection.abort()
        connection = await dial(self.address, self.tls, self._connect)
        self._open_connections.add(connection)
        connection.lost.add_done_callback(lambda _: self._open_connections.discard(connection))
        return connection

    def _put_back(self, connection: Connection) -> None:
        if connection.reusable:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.abort()

    def _bytes(self, request: Request) -> bytes:
        """Encodes a request. Raises `ValueError` for a header with a line break in it."""
        first = f"{request.method} {self._prefix}{request.target} HTTP/1.1\r\n{self._head}{_lines(request.headers.items())}"
        if request.body is None:
            return f"{first}\r\n".encode()
        return f"{first}Content-Length: {len(request.body)}\r\n\r\n".encode() + request.body


def _lines(headers: Collection[tuple[str, str]]) -> str:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError(f"a line break in a header: {', '.join(name for name, _ in headers)}")
    return lines


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
