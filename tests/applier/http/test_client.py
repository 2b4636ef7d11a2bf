"""Whole requests and answers, and the connections that they use."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from applier.http import Client, ConnectionEnded, Malformed, NotConnected, Request
from applier.http import client as client_module

from ..transport.scripted import raised
from .raw_server import END, LAST, OK, SILENCE, RawServer, Script, serving

GET = Request("GET", "/version", {})
SOON = 5.0


@pytest_asyncio.fixture
async def server() -> AsyncIterator[RawServer]:
    async with serving() as server:
        yield server


@pytest_asyncio.fixture
async def client(server: RawServer) -> AsyncIterator[Client]:
    client = Client(server.url, headers=[("User-Agent", "me")])
    yield client
    await client.close()


async def body(client: Client, request: Request = GET) -> bytes:
    return (await client.call(request, SOON)).body


async def test_a_request_goes_over_the_wire_as_http_says(server: RawServer, client: Client) -> None:
    await client.call(Request("PATCH", "/api/v1/pods?a=b%20c", {"Authorization": "Bearer t"}, b"{}"), SOON)
    assert server.requests == [
        b"PATCH /api/v1/pods?a=b%%20c HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: me\r\nAuthorization: Bearer t\r\n"
        b"Content-Length: 2\r\n\r\n{}" % server.port
    ]


async def test_several_headers_may_have_one_name(server: RawServer) -> None:
    client = Client(server.url, headers=[("A", "1"), ("A", "2")])
    await client.call(GET, SOON)
    await client.close()
    assert b"\r\nA: 1\r\nA: 2\r\n" in server.requests[0]


async def test_a_request_without_a_body_says_no_length(server: RawServer, client: Client) -> None:
    await client.call(GET, SOON)
    assert b"Content-Length" not in server.requests[0]


async def test_an_empty_body_is_a_body(server: RawServer, client: Client) -> None:
    await client.call(Request("POST", "/", {}, b""), SOON)
    assert b"Content-Length: 0" in server.requests[0]


async def test_the_path_of_the_server_comes_before_that_of_the_request(server: RawServer) -> None:
    client = Client(f"{server.url}/k8s/clusters/c-1/")
    await client.call(GET, SOON)
    assert server.requests[0].startswith(b"GET /k8s/clusters/c-1/version HTTP/1.1\r\n")
    await client.close()


async def test_one_connection_serves_request_after_request(server: RawServer, client: Client) -> None:
    assert [await body(client) for _ in range(3)] == [b"ok"] * 3
    assert len(server.heard) == 1


async def test_requests_at_once_have_connections_of_their_own(server: RawServer, client: Client) -> None:
    await asyncio.gather(*(client.call(GET, SOON) for _ in range(3)))
    await asyncio.gather(*(client.call(GET, SOON) for _ in range(3)))
    assert [len(requests) for requests in server.heard] == [2, 2, 2]


@pytest.mark.parametrize("first", [(LAST,), (OK + OK,)], ids=["the server ends it", "more came than was asked for"])
async def test_a_connection_that_is_spent_is_not_used_again(first: tuple[bytes]) -> None:
    async with serving(first) as server:
        client = Client(server.url)
        assert [await body(client) for _ in range(2)] == [b"ok"] * 2
        assert len(server.heard) == 2
        while client.connections > 1:
            await asyncio.sleep(0)
        await client.close()


async def test_a_connection_that_the_server_ended_while_idle_is_not_used_again() -> None:
    async with serving((OK, END)) as server:
        client = Client(server.url)
        await client.call(GET, SOON)
        while client.connections:
            await asyncio.sleep(0)
        assert await body(client) == b"ok"
        assert len(server.heard) == 2
        await client.close()


async def test_what_comes_unasked_ends_an_idle_connection() -> None:
    later = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await later.wait()
        writer.write(OK)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    client = Client(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    await client.call(GET, SOON)
    later.set()
    while client.connections:
        await asyncio.sleep(0)
    listening.close()


async def test_an_old_connection_is_not_used_again(server: RawServer, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    await client.call(GET, SOON)
    monkeypatch.setattr(client_module, "KEEP_ALIVE", 0.0)
    await client.call(GET, SOON)
    assert len(server.heard) == 2
    while client.connections > 1:
        await asyncio.sleep(0)


async def test_a_connection_that_trusts_others_is_not_used_again(server: RawServer, client: Client) -> None:
    await client.call(GET, SOON)
    client._idle[0].tls = ssl.create_default_context()
    await client.call(GET, SOON)
    assert len(server.heard) == 2


async def test_closing_ends_every_connection(server: RawServer, client: Client) -> None:
    await asyncio.gather(*(client.call(GET, SOON) for _ in range(3)))
    await client.close()
    assert client.connections == 0
    while server.open:
        await asyncio.sleep(0)


async def test_a_request_that_takes_too_long_leaves_no_connection() -> None:
    async with serving((OK,), (b"HTTP/1.1 200 OK\r\n", SILENCE)) as server:
        client = Client(server.url)
        await client.call(GET, SOON)  # on a busy machine, to connect alone may take longer than the next request has
        assert isinstance(await raised(lambda: client.call(GET, 0.02)), TimeoutError)
        while len(server.requests) < 2:
            await asyncio.sleep(0)
        assert await body(client) == b"ok"
        assert len(server.heard) == 2
        await client.close()


async def test_a_request_that_is_given_up_leaves_no_connection() -> None:
    async with serving((SILENCE,)) as server:
        client = Client(server.url)
        task = asyncio.create_task(client.call(GET, SOON))
        while not server.requests:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        while client.connections:
            await asyncio.sleep(0)
        await client.close()


BROKEN: dict[str, tuple[Script, type[Exception]]] = {
    "before it begins": ((END,), ConnectionEnded),
    "in its head": ((b"HTTP/1.1 200 OK\r\nConten", END), ConnectionEnded),
    "in its body": ((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal", END), ConnectionEnded),
    "between chunks": ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", END), ConnectionEnded),
    "because it is none": ((b"SSH-2.0-OpenSSH\r\n",), Malformed),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_answer_that_breaks_off_is_an_error(name: str) -> None:
    script, expected = BROKEN[name]
    async with serving(script) as server:
        client = Client(server.url)
        assert type(await raised(lambda: client.call(GET, SOON))) is expected
        await client.close()


async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    async with serving((b"HTTP/1.1 200 OK\r\n\r\nall of it", END)) as server:
        client = Client(server.url)
        assert await body(client) == b"all of it"
        await client.close()


async def test_a_large_answer_comes_whole(server: RawServer, client: Client) -> None:
    large = b"x" * 5_000_000
    server.scripts.append((b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", large))
    assert await body(client) == large


async def test_a_large_body_is_sent_whole(server: RawServer, client: Client) -> None:
    large = b"x" * 3_000_000
    await client.call(Request("POST", "/", {}, large), SOON)
    assert server.requests[0].endswith(b"\r\n\r\n" + large)


@pytest.mark.parametrize("value", ["t\r\nX-Admin: yes", "t\n", "t\r"])
async def test_a_line_break_in_a_header_is_not_sent(server: RawServer, client: Client, value: str) -> None:
    assert isinstance(await raised(lambda: client.call(Request("GET", "/", {"Authorization": value}), SOON)), ValueError)
    assert server.requests == []
    assert client.connections == 0


async def test_a_refused_connection_says_why() -> None:
    async with serving() as server:
        port = server.port
    error = await raised(lambda: Client(f"http://127.0.0.1:{port}").call(GET, SOON))
    assert isinstance(error, NotConnected)
    assert isinstance(error.__cause__, ConnectionRefusedError)


async def test_a_name_that_can_be_none_is_no_connection() -> None:
    error = await raised(lambda: Client(f"http://{'a' * 70}.example").call(GET, SOON))
    assert isinstance(error, NotConnected)


@pytest.mark.parametrize(("url", "port"), [("http://a", 80), ("https://a", 443), ("http://a:8080", 8080), ("https://a:8443", 8443)])
async def test_a_server_has_the_port_of_its_scheme_unless_it_says_one(url: str, port: int) -> None:
    assert Client(url).address.port == port


async def test_a_proxy_without_a_user_is_told_of_none() -> None:
    assert Client("http://a", proxy="http://b")._head == "Host: a\r\n"


async def test_an_address_of_version_6_keeps_its_brackets() -> None:
    client = Client("https://[::1]")
    assert (client.address.host, client.address.port, client.address.authority) == ("::1", 443, "[::1]:443")
    assert client._head == "Host: [::1]\r\n"
