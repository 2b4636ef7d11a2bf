"""A server that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import web

from applier.cluster import Resource
from applier.ref import Kind
from applier.transport.retries import Retries

CONFIG_MAPS = Resource(Kind("", "v1", "ConfigMap"), "configmaps", True)
SECRETS = Resource(Kind("", "v1", "Secret"), "secrets", True)
DEPLOYMENTS = Resource(Kind("apps", "v1", "Deployment"), "deployments", True)
NAMESPACES = Resource(Kind("", "v1", "Namespace"), "namespaces", False)

HASTY = Retries(first=0.001, longest=0.002, timeout=30.0, stall=30.0)
"""Waits next to nothing between tries."""


class Answer(NamedTuple):
    """What to answer. A body that is no text is sent as JSON. `broken` breaks the connection instead, after `body` where there is one."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012
    broken: bool = False
    hangs: bool = False


class Heard(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


RESET = Answer(broken=True)
HANGS = Answer(hangs=True)


def status(code: int, reason: str = "", message: str = "", causes: list[dict[str, str]] | None = None, **details: Any) -> Answer:
    """A Status object as API servers send it."""
    told = details | ({"causes": causes} if causes else {})
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "details": told, "code": code}
    return Answer(code, body)


def config_map(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ns", **more}, "data": {"k": "v"}}


def lines(*events: dict[str, Any]) -> str:
    """Watch events as they go over the wire."""
    return "".join(json.dumps(event) + "\n" for event in events)


class Scripted:
    """Answers by method and path, in turn; the last answer of a path stays. What nobody scripted is 404."""

    def __init__(self) -> None:
        self.url = ""
        self.over = asyncio.Event()
        self.heard: list[Heard] = []
        self.script: dict[tuple[str, str], list[Answer]] = defaultdict(list)

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self.script[method, path] += answers

    def asked(self, method: str = "", path: str = "") -> list[Heard]:
        """The requests of a method and a path, or of all."""
        return [one for one in self.heard if method in ("", one.method) and path in ("", one.path)]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        body = json.loads(content) if content else None
        self.heard.append(Heard(request.method, request.path, dict(request.query), body, dict(request.headers)))
        answers = self.script.get((request.method, request.path), [])
        if not answers:
            return web.Response(status=404, text="404 page not found")
        given = answers.pop(0) if len(answers) > 1 else answers[0]
        if given.hangs and given.body is None:
            await self.over.wait()
        if given.broken and given.body is None:
            return self._break(request)
        if given.broken or given.hangs:
            return await self._part(request, given)
        text = given.body if isinstance(given.body, str) else json.dumps({} if given.body is None else given.body)
        return web.Response(status=given.status, body=text.encode(), headers={"Content-Type": "application/json"} | given.headers)

    def _break(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def _part(self, request: web.Request, given: Answer) -> web.StreamResponse:
        """Sends a part, then breaks the connection or falls silent."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(given.body.encode())
        if given.hangs:
            await self.over.wait()
        self._break(request)
        return response


@asynccontextmanager
async def scripted(tls: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    """Runs a scripted server on a free port of loopback."""
    server = Scripted()
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        server.over.set()
        await runner.cleanup()


async def raised(call: Callable[[], Any]) -> Exception:
    """The error that awaiting a call ends with."""
    try:
        given = await call()
    except Exception as error:
        return error
    raise AssertionError(f"nothing was raised, but given: {given!r}")
