"""Servers that are reached through a proxy."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from applier.http import Client, ConnectionEnded, Malformed, NotConnected, ProxyRefused, Request
from applier.transport import run

from ..transport.certificates import Pair, authority, needs_openssl, signed
from ..transport.scripted import raised
from .raw_server import END, OPEN, SILENCE, RawServer, Script, read_request, serving

GET = Request("GET", "/version", {})
SOON = 5.0


def server_tls(pair: Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    return context


class Tunnels:
    """A proxy that opens tunnels. `asked` are the requests for one."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(await read_request(reader))
        host, _, port = self.asked[-1].split(b" ")[1].decode().rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        writer.write(OPEN)
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(2**16):
            sink.write(data)
            await sink.drain()
    except ConnectionError:
        pass
    finally:
        sink.close()


@asynccontextmanager
async def tunnelling(tls: ssl.SSLContext | None = None) -> AsyncIterator[Tunnels]:
    proxy = Tunnels()
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, ssl=tls)
    proxy.port = listening.sockets[0].getsockname()[1]
    yield proxy
    listening.close()


def through(server: RawServer, proxy: str, ca: Pair) -> Client:
    client = Client(server.url.replace("http:", "https:"), proxy=proxy)
    client.tls = ssl.create_default_context(cafile=str(ca.certificate))
    return client


async def _answer_through_a_tunnel(ca: Pair) -> tuple[bytes, list[bytes]]:
    async with serving(tls=server_tls(signed(ca, "server"))) as server, tunnelling() as proxy:
        client = through(server, f"http://me:p%40ss@127.0.0.1:{proxy.port}", ca)
        response = await client.call(GET, SOON)
        await client.close()
        return response.body, [line for line in proxy.asked[0].split(b"\r\n") if not line.startswith(b"Host")]


@needs_openssl
@pytest.mark.parametrize("loop", [run, asyncio.run], ids=["the loop of ours", "asyncio"])
def test_a_server_with_tls_is_reached_through_a_tunnel(loop: type, ca: Pair) -> None:
    body, (first, authorization, *_) = loop(_answer_through_a_tunnel(ca))
    assert body == b"ok"
    assert first.startswith(b"CONNECT 127.0.0.1:")
    assert authorization == b"Proxy-Authorization: Basic bWU6cEBzcw=="


class SocksProxy:
    """A SOCKS5 proxy (RFC 1928, RFC 1929). `asked` are the names and ports that it was asked for, `users` who logged in."""

    def __init__(self, user: bytes = b"") -> None:
        self.user, self.asked, self.users, self.port = user, list[tuple[bytes, int]](), list[bytes](), 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(2))[1])
        wanted = 2 if self.user else 0
        if wanted not in methods:
            writer.write(b"\5\xff")
            return writer.close()
        writer.write(bytes((5, wanted)))
        if self.user:
            name = await reader.readexactly((await reader.readexactly(2))[1])
            self.users.append(name + b":" + await reader.readexactly((await reader.readexactly(1))[0]))
            writer.write(b"\1\0")
        kind = (await reader.readexactly(4))[3]
        host = (
            socket.inet_ntoa(await reader.readexactly(4)).encode()
            if kind == 1
            else await reader.readexactly((await reader.readexactly(1))[0])
        )
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((host, port))
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\5\0\0\1\0\0\0\0\0\0")
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))
        return None


async def _answer_through_socks(ca: Pair, login: str) -> tuple[bytes, SocksProxy, int]:
    proxy = SocksProxy(b"me" if login else b"")
    async with serving(tls=server_tls(signed(ca, "server"))) as server:
        listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        client = Client(f"https://localhost:{server.port}", proxy=f"socks5://{login}127.0.0.1:{port}")
        client.tls = ssl.create_default_context(cafile=str(ca.certificate))
        response = await client.call(GET, SOON)
        await client.close()
        listening.close()
        return response.body, proxy, server.port


@needs_openssl
@pytest.mark.parametrize("loop", [run, asyncio.run], ids=["the loop of ours", "asyncio"])
@pytest.mark.parametrize(("login", "users"), [("", []), ("me:p%40ss@", [b"me:p@ss"])], ids=["for all", "with a password"])
def test_a_server_is_reached_through_a_socks_proxy_which_looks_its_name_up(loop: type, login: str, users: list[bytes], ca: Pair) -> None:
    body, proxy, port = loop(_answer_through_socks(ca, login))
    assert (body, proxy.asked, proxy.users) == (b"ok", [(b"localhost", port)], users)


async def test_a_socks_proxy_that_is_away_is_named() -> None:
    client = Client("https://server:1", proxy="socks5h://127.0.0.1:1")
    error = await raised(lambda: client.call(GET, SOON))
    assert isinstance(error, NotConnected)
    assert error.proxy == "127.0.0.1:1"


async def test_without_tls_a_socks_proxy_sees_what_the_server_would(ca: Pair) -> None:
    proxy = SocksProxy()
    async with serving() as server:
        listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        client = Client(server.url, proxy=f"socks5://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
        await client.call(GET, SOON)
        await client.close()
        listening.close()
        assert server.requests[0].startswith(b"GET /version HTTP/1.1")


@needs_openssl
async def test_a_tunnel_is_kept_for_the_next_request(ca: Pair) -> None:
    async with serving(tls=server_tls(signed(ca, "server"))) as server, tunnelling() as proxy:
        client = through(server, f"http://127.0.0.1:{proxy.port}", ca)
        await client.call(GET, SOON)
        await client.call(GET, SOON)
        assert len(proxy.asked) == 1
        assert b"Proxy-Authorization" not in proxy.asked[0]
        await client.close()


@needs_openssl
async def test_the_proxy_may_speak_tls_itself(ca: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ca.certificate))
    async with serving(tls=server_tls(signed(ca, "server"))) as server, tunnelling(server_tls(signed(ca, "proxy"))) as proxy:
        client = through(server, f"https://127.0.0.1:{proxy.port}", ca)
        assert (await client.call(GET, SOON)).body == b"ok"
        await client.close()


@needs_openssl
async def test_a_certificate_that_is_not_trusted_is_the_servers(ca: Pair, tmp_path: Path) -> None:
    other = signed(authority(tmp_path, "other"), "server")
    async with serving(tls=server_tls(other)) as server, tunnelling() as proxy:
        error = await raised(lambda: through(server, f"http://127.0.0.1:{proxy.port}", ca).call(GET, SOON))
        assert isinstance(error, NotConnected)
        assert isinstance(error.__cause__, ssl.SSLCertVerificationError)
        assert error.proxy == ""


async def test_a_server_without_tls_is_asked_by_the_proxy() -> None:
    async with serving() as proxy:
        client = Client("http://kubernetes.example:8080/base", proxy=f"http://me:you@127.0.0.1:{proxy.port}")
        assert (await client.call(GET, SOON)).body == b"ok"
        first, host, authorization, *_ = proxy.requests[0].split(b"\r\n")
        assert first == b"GET http://kubernetes.example:8080/base/version HTTP/1.1"
        assert host == b"Host: kubernetes.example:8080"
        assert authorization == b"Proxy-Authorization: Basic bWU6eW91"
        await client.close()


@pytest.mark.parametrize("status", [407, 403, 502, 999])
async def test_a_proxy_that_refuses_says_its_status(status: int) -> None:
    async with serving((f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode(),)) as proxy:
        error = await raised(lambda: encrypted(proxy.url).call(GET, SOON))
        assert isinstance(error, ProxyRefused)
        assert error.status == status


def encrypted(proxy: str) -> Client:
    client = Client("https://kubernetes.example", proxy=proxy)
    client.tls = ssl.create_default_context()
    return client


USELESS: dict[str, tuple[Script, type[Exception]]] = {
    "that ends": ((END,), ConnectionEnded),
    "that is none": ((b"220 smtp\r\n",), Malformed),
}


@pytest.mark.parametrize("name", USELESS)
async def test_a_proxy_that_is_of_no_use_is_no_connection(name: str) -> None:
    script, cause = USELESS[name]
    async with serving(script) as proxy:
        error = await raised(lambda: encrypted(proxy.url).call(GET, SOON))
        assert isinstance(error, NotConnected)
        assert (error.proxy, type(error.__cause__)) == (f"127.0.0.1:{proxy.port}", cause)


async def test_a_proxy_that_is_away_is_named() -> None:
    async with serving() as proxy:
        url = proxy.url
    error = await raised(lambda: encrypted(url).call(GET, SOON))
    assert isinstance(error, NotConnected)
    assert error.proxy == url.removeprefix("http://")


async def test_a_proxy_that_is_silent_is_given_up() -> None:
    async with serving((SILENCE,)) as proxy:
        client = Client("https://kubernetes.example", proxy=proxy.url, connect=0.05)
        client.tls = ssl.create_default_context()
        error = await raised(lambda: client.call(GET, SOON))
        assert isinstance(error, NotConnected)
        assert isinstance(error.__cause__, TimeoutError)
