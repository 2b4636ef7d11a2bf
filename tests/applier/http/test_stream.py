"""Answers that come piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from applier.http import Client, ConnectionEnded, Malformed, Request
from applier.http.connection import BUFFER_LIMIT

from ..transport.scripted import raised
from .raw_server import END, SILENCE, serving

GET = Request("GET", "/api/v1/pods?watch=1", {})
SOON = 5.0
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


async def read(*script: bytes | str, silence: float = SOON) -> tuple[int, bytes]:
    async with serving(script) as server:
        client = Client(server.url)
        stream = await client.open(GET, SOON, silence)
        try:
            return stream.status, await stream.read()
        finally:
            stream.close()
            await client.close()


WHOLE: dict[str, Sequence[bytes | str]] = {
    "in one piece": (HEAD + chunk(b"one") + chunk(b"two") + chunk(b""),),
    "piece by piece": (HEAD, chunk(b"one"), chunk(b"two"), chunk(b"")),
    "until its connection ends": (b"HTTP/1.1 200 OK\r\n\r\n", b"one", b"two", END),
    "with a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", b"onet", b"wo"),
}


@pytest.mark.parametrize("name", WHOLE)
async def test_a_stream_comes_whole(name: str) -> None:
    assert await read(*WHOLE[name]) == (200, b"onetwo")


async def test_pieces_are_given_as_they_come() -> None:
    async with serving((HEAD, chunk(b"one"), SILENCE)) as server:
        client = Client(server.url)
        stream = await client.open(GET, SOON, SOON)
        assert await stream.chunk() == b"one"
        stream.close()
        await client.close()


async def test_a_refusal_can_be_read() -> None:
    status, body = await read(b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone")
    assert (status, body) == (410, b"gone")


BROKEN: dict[str, tuple[Sequence[bytes | str], type[Exception]]] = {
    "an end that is none": ((HEAD, chunk(b"one"), END), ConnectionEnded),
    "a chunk that is none": ((HEAD, chunk(b"one"), b"what?\r\n"), Malformed),
    "silence": ((HEAD, chunk(b"one"), SILENCE), TimeoutError),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_stream_that_breaks_off_is_an_error(name: str) -> None:
    script, expected = BROKEN[name]
    assert type(await raised(lambda: read(*script, silence=0.05))) is expected


async def test_what_came_before_the_break_is_given_first() -> None:
    async with serving((HEAD + chunk(b"one"), END)) as server:
        client = Client(server.url)
        stream = await client.open(GET, SOON, SOON)
        assert await stream.chunk() == b"one"
        assert isinstance(await raised(stream.chunk), ConnectionEnded)
        await client.close()


async def test_the_server_waits_while_nobody_takes_what_has_come() -> None:
    piece = chunk(b"x" * 100_000)
    async with serving((HEAD, *[piece] * 300, chunk(b""))) as server:
        client = Client(server.url)
        stream = await client.open(GET, SOON, SOON)
        reader = stream._connection.reader
        while reader.size <= BUFFER_LIMIT:
            await asyncio.sleep(0)
        for _ in range(100):  # more turns than the rest would take to come
            await asyncio.sleep(0)
        assert reader.size < 2 * BUFFER_LIMIT
        assert len(await stream.read()) == 30_000_000
        await client.close()


async def test_a_closed_stream_ends_its_connection() -> None:
    async with serving((HEAD, SILENCE)) as server:
        client = Client(server.url)
        stream = await client.open(GET, SOON, SOON)
        stream.close()
        while client.connections or server.open:
            await asyncio.sleep(0)
        await client.close()


async def test_a_head_that_does_not_come_leaves_no_connection() -> None:
    async with serving((SILENCE,)) as server:
        client = Client(server.url)
        assert isinstance(await raised(lambda: client.open(GET, 0.02, SOON)), TimeoutError)
        while client.connections:
            await asyncio.sleep(0)
        await client.close()
