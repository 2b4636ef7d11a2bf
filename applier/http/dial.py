"""Opens connections, directly or through a proxy, with or without TLS."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from applier.http.connection import Connection
from applier.http.response import ConnectionEnded, Malformed, NotConnected, ProxyRefused

PORTS = {"http": 80, "https": 443, "socks5": 1080}
HAPPY_EYEBALLS_DELAY = 0.25  # seconds until a host's other addresses are tried beside the first (RFC 8305)


class Proxy(NamedTuple):
    """Represents an HTTP or SOCKS5 proxy. A SOCKS5 proxy resolves names itself, as for Go. `user` is empty without authentication."""

    host: str
    port: int
    scheme: str
    user: str = ""
    password: str = ""

    @classmethod
    def of(cls, url: str) -> Proxy:
        """Returns the proxy at `SCHEME://[user:password@]host[:port]`; the scheme is http, https, socks5 or socks5h."""
        parts = urlsplit(url)
        scheme = "socks5" if parts.scheme == "socks5h" else parts.scheme
        login = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.hostname or "", parts.port or PORTS[scheme], scheme, *login)

    @property
    def speaks_http(self) -> bool:
        """Reports whether the proxy handles HTTP requests; a SOCKS proxy only relays bytes."""
        return self.scheme != "socks5"

    @property
    def authorization(self) -> str:
        """Returns the value of the Proxy-Authorization header; empty without a user."""
        login = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(login).decode()}" if self.user else ""


class Address(NamedTuple):
    """Represents the address of a server. `server_name` is the name in its certificate, if that is not the host."""

    host: str
    port: int
    server_name: str = ""
    proxy: Proxy | None = None

    @property
    def authority(self) -> str:
        """Returns `host:port` as in a request line."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


async def dial(address: Address, tls: ssl.SSLContext | None, seconds: float) -> Connection:
    """Opens a connection, with TLS if a context is given. Raises `NotConnected` and `ProxyRefused`."""
    try:
        async with asyncio.timeout(seconds):
            if address.proxy is None:
                return await _connect(address.host, address.port, tls, address.server_name or address.host)
            connect = _connect_via_http if address.proxy.speaks_http else _connect_via_socks
            return await connect(address.proxy, address, tls)
    except (OSError, TimeoutError, UnicodeError) as error:  # UnicodeError: an invalid host name
        raise NotConnected(address.host) from error


async def _connect(host: str, port: int, tls: ssl.SSLContext | None, server_name: str) -> Connection:
    loop = asyncio.get_running_loop()
    name = server_name if tls else None
    connection = Connection(tls)
    options: dict[str, Any] = {}
    if isinstance(loop, asyncio.BaseEventLoop):
        options["happy_eyeballs_delay"] = HAPPY_EYEBALLS_DELAY
    else:
        # uvloop has no such delay. And if a connection is cancelled while uvloop resolves the name, it logs "Future exception was never
        # retrieved", so the name is resolved before. For an IP address this costs nothing.
        await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    await loop.create_connection(lambda: connection, host, port, ssl=tls, server_hostname=name, **options)
    return connection


async def _connect_via_http(proxy: Proxy, address: Address, tls: ssl.SSLContext | None) -> Connection:
    """Opens a connection through an HTTP proxy, which forwards requests without TLS and opens a tunnel for TLS (RFC 9110, 9.3.6)."""
    outer = ssl.create_default_context() if proxy.scheme == "https" else None
    try:
        connection = await _connect(proxy.host, proxy.port, outer, proxy.host)
        if tls is None:
            return connection
        await _open_tunnel(connection, proxy, address)
    except (OSError, UnicodeError, ConnectionEnded, Malformed) as error:
        raise NotConnected(address.host, f"{proxy.host}:{proxy.port}") from error
    inner = Connection(tls)
    transport = await asyncio.get_running_loop().start_tls(
        connection.transport, inner, tls, server_hostname=address.server_name or address.host
    )
    if transport is None:
        raise ConnectionResetError("the proxy ended the tunnel")
    inner.connection_made(transport)
    return inner


async def _connect_via_socks(proxy: Proxy, address: Address, tls: ssl.SSLContext | None) -> Connection:
    """Opens a connection through a SOCKS5 proxy, which relays the same bytes as without a proxy."""
    from python_socks import ProxyError, ProxyTimeoutError, ProxyType  # takes 0.1 s to import, and is rarely used
    from python_socks.async_.asyncio import Proxy as Socks

    try:
        socks = Socks.create(ProxyType.SOCKS5, proxy.host, proxy.port, proxy.user or None, proxy.password or None, rdns=True)
        opened = await socks.connect(address.host, address.port)
    except (OSError, ProxyError, ProxyTimeoutError) as error:
        raise NotConnected(address.host, f"{proxy.host}:{proxy.port}") from error
    connection, name = Connection(tls), address.server_name or address.host
    await asyncio.get_running_loop().create_connection(lambda: connection, sock=opened, ssl=tls, server_hostname=name if tls else None)
    return connection


async def _open_tunnel(connection: Connection, proxy: Proxy, address: Address) -> None:
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    try:
        await connection.begin(f"CONNECT {address.authority} HTTP/1.1\r\nHost: {address.authority}\r\n{login}\r\n".encode())
        if not 200 <= connection.reader.status < 300:
            raise ProxyRefused(connection.reader.status)
    except BaseException:
        connection.abort()
        raise
