"""A server of bytes: it reads requests as they come over the wire, and answers with what a test gives it."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
END, SILENCE = "the server ends the connection", "the server says no more"
Script = Sequence[bytes | str]


class RawServer:
    """Answers each request with the next script, or with `OK` when there are none left. `heard` holds requests by connection."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = deque(scripts)
        self.heard: list[list[bytes]] = []
        self.port = 0
        self.open = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[bytes]:
        """All requests, in the order of their connections."""
        return [request for requests in self.heard for request in requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests: list[bytes] = []
        self.heard.append(requests)
        self.open += 1
        try:
            while request := await read_request(reader):
                requests.append(request)
                for part in self.scripts.popleft() if self.scripts else (OK,):
                    if part is END:
                        return
                    if part is SILENCE:
                        await reader.read()
                    elif isinstance(part, bytes):
                        writer.write(part)
                        await writer.drain()
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of a request; nothing when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    lines = head.lower().split(b"\r\n")
    length = next((int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:")), 0)
    return head + await reader.readexactly(length)


@asynccontextmanager
async def serving(*scripts: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """Runs a server on a free port of loopback."""
    server = RawServer(*scripts)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
