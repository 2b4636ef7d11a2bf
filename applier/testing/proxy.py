"""Injects the faults of a script as a proxy between a client and a control plane, and counts requests.

Clients speak plain HTTP to it, it speaks TLS to the server. Needs aiohttp.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from applier.testing import faults
from applier.testing.control_plane import ControlPlane
from applier.testing.counts import CountedRequest, Requests, parse
from applier.testing.faults import Fault, Script
from applier.testing.users import write_kubeconfig

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "host", "te", "trailer", "proxy-connection"})


class Dropped(Exception):
    """Reports that the client's connection was dropped on purpose."""


class Faults:
    """`async with Faults(control_plane, Script(conflict=0.01)) as proxy`: the same server at `proxy.url`, with faults.

    `requests` has every request that came by, with code 0 where no answer went back; `injected` how often each fault happened; `dropped` is
    set when the scripted write was dropped; while `refusing`, every connection is dropped. A request without credentials gets those of
    `admin`: kubectl sends none over plain HTTP. With `remember`, `requests` has only so many of the latest, for those that run for hours.
    """

    def __init__(self, control_plane: ControlPlane, script: Script | None = None, *, remember: int | None = None) -> None:
        self.control_plane = control_plane
        self.script = script or Script()
        self.url = ""
        self.injected: Counter[str] = Counter()
        self.dropped = asyncio.Event()
        self.refusing = False
        self._remember = remember
        self._number = 0
        self._seen: dict[int, CountedRequest] = {}
        self._chances = faults.Chances(self.script)
        self._events = 0
        self._open: dict[int, web.BaseRequest] = {}
        self._exit = AsyncExitStack()
        self._upstream: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            connector = aiohttp.TCPConnector(ssl=self.control_plane.tls, limit=0)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=30)
            self._upstream = await stack.enter_async_context(
                aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=timeout)
            )
            runner = web.ServerRunner(web.Server(self._serve, access_log=None, handler_cancellation=True), shutdown_timeout=0.0)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            self.url = f"http://{host}:{port}"
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
            self._exit = stack.pop_all()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._exit.aclose()

    @property
    def requests(self) -> Requests:
        """Returns the requests so far, in order of arrival."""
        return Requests(self._seen.values())

    def kubeconfig(self, user: str = "admin") -> Path:
        """Returns a kubeconfig file for the proxy."""
        known = self.control_plane.users[user]._replace(kubeconfig=self._folder / f"{user.replace(':', '-')}.json")
        write_kubeconfig(known, self.url, None)
        return known.kubeconfig

    def reset(self) -> None:
        """Breaks the connections of all requests under way, watches included. Later requests are served."""
        for request in self._open.values():
            _reset(request)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        seen = parse(request.method, request.raw_path, request.headers.get("User-Agent", ""))
        number = self._noted(seen)
        self._open[number] = request
        try:
            answer = await self._answer(request, seen)
        except (Dropped, aiohttp.ClientError, ConnectionError):
            _reset(request)
            return web.Response(status=503)
        finally:
            del self._open[number]
        if number in self._seen:
            self._seen[number] = seen._replace(code=answer.status)
        return answer

    def _noted(self, request: CountedRequest) -> int:
        """Records a request, in place of the oldest if there are too many, and returns its number."""
        self._number += 1
        self._seen[self._number] = request
        if self._remember is not None and len(self._seen) > self._remember:
            del self._seen[next(iter(self._seen))]
        return self._number

    async def _answer(self, request: web.BaseRequest, seen: CountedRequest) -> web.StreamResponse:
        body = await request.content.read()
        if self.refusing:
            raise Dropped
        dropped = self._chances.is_dropped_write(seen)
        if dropped and self.script.drop_when == "before":
            self._drop()
        fault = None if dropped else self._chances.of(seen, request.raw_path)
        if fault in faults.ANSWERS:
            return self._refusal(str(fault))
        if fault == "reset-before" and seen.verb != "watch":
            self._inject("reset-before")
            raise Dropped
        if fault == "stall" and seen.verb != "watch":
            self._inject("stall")
            await asyncio.sleep(self.script.stall_seconds)
        headers = _forwarded(request.headers)
        headers.setdefault("Authorization", f"Bearer {self.control_plane.token}")
        target = URL(self.control_plane.url + request.raw_path, encoded=True)
        skip = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
        async with self._upstream.request(request.method, target, headers=headers, data=body or None, skip_auto_headers=skip) as upstream:
            if seen.verb == "watch" and upstream.status == 200:
                return await self._stream(request, upstream, fault)
            content = await upstream.read()
        if dropped:
            self._drop()
        if fault == "reset-after":
            self._inject("reset-after")
            raise Dropped
        return web.Response(status=upstream.status, headers=_forwarded(upstream.headers), body=content)

    async def _stream(self, request: web.BaseRequest, upstream: aiohttp.ClientResponse, fault: Fault | None) -> web.StreamResponse:
        answer = web.StreamResponse(status=upstream.status, headers=_forwarded(upstream.headers))
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        async for line in _lines(upstream.content):
            await answer.write(line)
            if b'"type":"BOOKMARK"' in line[:40]:
                continue
            self._events += 1
            if self.script.gone_every and self._events % self.script.gone_every == 0:
                self._inject("gone")
                await answer.write(json.dumps({"type": "ERROR", "object": faults.status("gone")}).encode() + b"\n")
                break
            if fault in ("reset-before", "reset-after"):
                self._inject("reset-watch")
                raise Dropped
            if fault == "stall":
                self._inject("stall-watch")
                await asyncio.sleep(self.script.stall_seconds)
                fault = None
        await answer.write_eof()
        return answer

    def _refusal(self, fault: str) -> web.Response:
        self._inject(fault)
        after = self.script.retry_after if fault == "too-many-requests" else None
        headers = {"Retry-After": str(after)} if after is not None else {}
        return web.json_response(faults.status(fault, after), status=faults.ANSWERS[fault][0], headers=headers)

    def _drop(self) -> None:
        self._inject(f"drop-{self.script.drop_when}")
        self.refusing = self.script.then == "refuse"
        if self.refusing:
            self.reset()
        self.dropped.set()
        raise Dropped

    def _inject(self, fault: str) -> None:
        self.injected[fault] += 1


def _forwarded(headers: Mapping[str, str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in HOP_BY_HOP | {"content-length"})


def _reset(request: web.BaseRequest) -> None:
    """Closes a connection at once, with a reset if possible."""
    if request.transport is None:
        return
    if connection := request.transport.get_extra_info("socket"):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in stream.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest
