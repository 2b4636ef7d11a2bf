"""Requests to one server, over connections that are kept for the next."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from applier.http.connection import Connection
from applier.http.dial import Address, Proxy, dial
from applier.http.response import Response
from applier.http.stream import Stream

KEPT = 60.0  # seconds for which an idle connection is used again; servers and load balancers end theirs some time after that
PARTING = 1.0  # seconds in which the event loop lets go of what was closed


class Request(NamedTuple):
    """`target` is path and query, as they go over the wire."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Client:
    """Sends requests to a server, each on a connection that nobody else uses meanwhile; used inside one event loop.

    `server` is its URL, whose path comes before that of every request. `tls` is how to speak TLS to an https server; connections that were
    made with another context are not used again. Nothing is repeated and no redirect followed. `connect` is how many seconds a
    connection may take to be made. `headers` go with every request; several may have one name.
    """

    def __init__(
        self,
        server: str,
        *,
        proxy: str = "",
        server_name: str = "",
        headers: Collection[tuple[str, str]] = (),
        connect: float = 10.0,
    ) -> None:
        parts = urlsplit(server)
        self.encrypted = parts.scheme == "https"
        port = parts.port or (443 if self.encrypted else 80)
        self.address = Address(parts.hostname or "", port, server_name, Proxy.of(proxy) if proxy else None)
        self.tls: ssl.SSLContext | None = None
        self._connect = connect
        self._prefix = parts.path.rstrip("/")
        lines = [("Host", parts.netloc.rpartition("@")[2]), *headers]
        through = self.address.proxy
        if through and through.speaks_http and not self.encrypted:
            self._prefix = f"http://{self.address.authority}{self._prefix}"
            lines += [("Proxy-Authorization", through.authorization)] if through.authorization else []
        self._head = _lines(lines)
        self._idle: list[Connection] = []
        self._made: set[Connection] = set()

    @property
    def connections(self) -> int:
        """How many connections there are, idle ones included."""
        return len(self._made)

    async def call(self, request: Request, timeout: float) -> Response:
        """Sends a request and returns the whole answer, whatever its status, within `timeout` seconds.

        Raises `HttpError`, `OSError`, `TimeoutError`.
        """
        sent = self._bytes(request)
        async with asyncio.timeout(timeout):
            connection = await self._take()
            try:
                response = await connection.exchange(sent)
            except BaseException:
                connection.abort()
                raise
        self._give_back(connection)
        return response

    async def open(self, request: Request, timeout: float, silence: float) -> Stream:
        """Sends a request and returns the answer as a stream, once its status and headers are there, within `timeout` seconds.

        Raises as `call`.
        """
        sent = self._bytes(request)
        async with asyncio.timeout(timeout):
            connection = await self._take()
            try:
                await connection.begin(sent)
            except BaseException:
                connection.abort()
                raise
        return Stream(connection, silence)

    async def close(self) -> None:
        """Ends all connections."""
        made = list(self._made)
        for connection in made:
            connection.abort()
        if made:
            await asyncio.wait([connection.lost for connection in made], timeout=PARTING)

    async def _take(self) -> Connection:
        """Takes an idle connection, the one used last first; or a new one."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and connection.tls is self.tls and now - connection.idle_since < KEPT:
                return connection
            connection.abort()
        connection = await dial(self.address, self.tls, self._connect)
        self._made.add(connection)
        connection.lost.add_done_callback(lambda _: self._made.discard(connection))
        return connection

    def _give_back(self, connection: Connection) -> None:
        if connection.reusable:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.abort()

    def _bytes(self, request: Request) -> bytes:
        """Writes the request as it goes over the wire. Raises `ValueError` for a header with a line break in it."""
        first = f"{request.method} {self._prefix}{request.target} HTTP/1.1\r\n{self._head}{_lines(request.headers.items())}"
        if request.body is None:
            return f"{first}\r\n".encode()
        return f"{first}Content-Length: {len(request.body)}\r\n\r\n".encode() + request.body


def _lines(headers: Collection[tuple[str, str]]) -> str:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError(f"a line break in a header: {', '.join(name for name, _ in headers)}")
    return lines
