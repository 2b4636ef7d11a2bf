"""How a connection is made: directly or through a proxy, with TLS or without."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from applier.http.connection import Connection
from applier.http.errors import Ended, Malformed, NotConnected, ProxyRefused

SECOND_FAMILY = 0.25  # seconds until a name's other addresses are tried beside the first (RFC 8305)


class Proxy(NamedTuple):
    """An HTTP proxy. `authorization` is the value of its header, empty without a user."""

    host: str
    port: int
    encrypted: bool
    authorization: str

    @classmethod
    def of(cls, url: str) -> Proxy:
        """The proxy at `http(s)://[user:password@]host[:port]`."""
        parts = urlsplit(url)
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
        authorization = f"Basic {base64.b64encode(user.encode()).decode()}" if user else ""
        encrypted = parts.scheme == "https"
        return cls(parts.hostname or "", parts.port or (443 if encrypted else 80), encrypted, authorization)


class Address(NamedTuple):
    """Where a server is. `server_name` is what its certificate is for, where that is not the host."""

    host: str
    port: int
    server_name: str = ""
    proxy: Proxy | None = None

    @property
    def authority(self) -> str:
        """`host:port` as requests name it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


async def dial(address: Address, tls: ssl.SSLContext | None, seconds: float) -> Connection:
    """A new connection; TLS where a context is given. Raises `NotConnected` and `ProxyRefused`."""
    try:
        async with asyncio.timeout(seconds):
            if address.proxy is None:
                return await _connect(address.host, address.port, tls, address.server_name or address.host)
            return await _through(address.proxy, address, tls)
    except (OSError, TimeoutError, UnicodeError) as error:  # UnicodeError: a name that can be none
        raise NotConnected(address.host) from error


async def _connect(host: str, port: int, tls: ssl.SSLContext | None, server_name: str) -> Connection:
    loop = asyncio.get_running_loop()
    name = server_name if tls else None
    connection = Connection(tls)
    more: dict[str, Any] = {}
    if isinstance(loop, asyncio.BaseEventLoop):
        more["happy_eyeballs_delay"] = SECOND_FAMILY
    else:
        # uvloop knows no such delay; and a connection that is given up while it looks for the name leaves an error that nobody fetches
        # ("Future exception was never retrieved"), so that the name is looked for before. An address is found without asking.
        await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    await loop.create_connection(lambda: connection, host, port, ssl=tls, server_hostname=name, **more)
    return connection


async def _through(proxy: Proxy, address: Address, tls: ssl.SSLContext | None) -> Connection:
    """A connection by way of a proxy. Requests without TLS are the proxy's own to pass on; for TLS it opens a tunnel (RFC 9110, 9.3.6)."""
    outer = ssl.create_default_context() if proxy.encrypted else None
    try:
        connection = await _connect(proxy.host, proxy.port, outer, proxy.host)
        if tls is None:
            return connection
        await _open_tunnel(connection, proxy, address)
    except (OSError, UnicodeError, Ended, Malformed) as error:
        raise NotConnected(address.host, f"{proxy.host}:{proxy.port}") from error
    inner = Connection(tls)
    transport = await asyncio.get_running_loop().start_tls(
        connection.transport, inner, tls, server_hostname=address.server_name or address.host
    )
    if transport is None:
        raise ConnectionResetError("the proxy ended the tunnel")
    inner.connection_made(transport)
    return inner


async def _open_tunnel(connection: Connection, proxy: Proxy, address: Address) -> None:
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    try:
        await connection.begin(f"CONNECT {address.authority} HTTP/1.1\r\nHost: {address.authority}\r\n{login}\r\n".encode())
        if not 200 <= connection.reader.status < 300:
            raise ProxyRefused(connection.reader.status)
    except BaseException:
        connection.abort()
        raise
