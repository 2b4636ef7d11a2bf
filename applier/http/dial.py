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

PORTS = {"http": 80, "https": 443, "socks5": 1080}
SECOND_FAMILY = 0.25  # seconds until a name's other addresses are tried beside the first (RFC 8305)


class Proxy(NamedTuple):
    """An HTTP proxy, or one that speaks SOCKS5, which looks names up as it does for Go. `user` is empty where it wants none."""

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
        """Whether it reads requests; one for SOCKS only passes bytes on."""
        return self.scheme != "socks5"

    @property
    def authorization(self) -> str:
        """The value of the header; empty without a user."""
        login = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(login).decode()}" if self.user else ""


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
    """Returns a new connection; TLS where a context is given. Raises `NotConnected` and `ProxyRefused`."""
    try:
        async with asyncio.timeout(seconds):
            if address.proxy is None:
                return await _connect(address.host, address.port, tls, address.server_name or address.host)
            through = _through if address.proxy.speaks_http else _through_socks
            return await through(address.proxy, address, tls)
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
    """Returns a connection by way of a proxy.

    Requests without TLS are the proxy's own to pass on; for TLS it opens a tunnel (RFC 9110, 9.3.6).
    """
    outer = ssl.create_default_context() if proxy.scheme == "https" else None
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


async def _through_socks(proxy: Proxy, address: Address, tls: ssl.SSLContext | None) -> Connection:
    """Returns a connection by way of a SOCKS5 proxy, which knows no HTTP: what goes over it is as without a proxy."""
    from python_socks import ProxyError, ProxyTimeoutError, ProxyType  # 0.1 s to import, and few have such a proxy
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
