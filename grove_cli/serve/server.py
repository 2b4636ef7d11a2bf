"""Serves the page over HTTP, read-only, with protection against DNS rebinding.

A foreign page can make a browser send requests to any address, and read the responses if a host name of its own resolves to that address.
So the `Host` of a request has to be an address, `localhost`, or a name that is allowed on the command line.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable, Collection

from aiohttp import web

from grove_cli.render.as_html import page_of
from grove_cli.serve.scene import Row, Scene
from grove_cli.serve.stage import Stage

HEARTBEAT = 15.0
"""Seconds between messages to a browser, by which broken connections are detected."""
MAX_LISTENERS = 64
"""Browsers that receive changes at a time; others get the status 503."""
SHUTDOWN_TIMEOUT = 1.0
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "grove",
    "X-Content-Type-Options": "nosniff",
}

Ask = Callable[[str], str]
"""Answers a question about the object of an id."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PageServer:
    """Serves the page at `/`, its data at `/graph` and changes at `/events`. `names` are allowed as `Host`.

    Of an object it serves what it waits for, as text, at `/why?id=…`, and what happened to a set, as SVG, at `/timeline?id=…`.
    """

    def __init__(self, stage: Stage, why: Ask, timeline: Ask, names: Collection[str] = ()) -> None:
        self._stage, self._why, self._timeline = stage, why, timeline
        self._names = {name.lower() for name in names}
        self._listeners = 0
        application = web.Application(middlewares=[self._guarded], client_max_size=0)
        application.add_routes(
            [
                web.get("/", self._page),
                web.get("/graph", self._graph),
                web.get("/events", self._events),
                web.get("/why", self._whys),
                web.get("/timeline", self._timelines),
            ]
        )
        application.on_response_prepare.append(self._with_headers)
        self._runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=SHUTDOWN_TIMEOUT)

    async def start(self, host: str, port: int) -> int:
        """Begins to listen and returns the port; the system chooses one for 0. Raises `OSError`."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        """Closes all connections."""
        await self._runner.cleanup()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_known_host(request.headers.get("Host", ""), self._names):
            raise web.HTTPForbidden(text="the host name is not allowed; allow it with --allow-host NAME\n")
        return await handler(request)

    async def _with_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)

    async def _page(self, _: web.Request) -> web.Response:
        text = await asyncio.to_thread(page_of, self._stage.scene.page(), live=True)
        return web.Response(text=text, content_type="text/html")

    async def _graph(self, _: web.Request) -> web.Response:
        text = await asyncio.to_thread(json.dumps, self._stage.scene.page())
        return web.Response(text=text, content_type="application/json")

    async def _whys(self, request: web.Request) -> web.Response:
        text = await self._stage.in_thread(self._why, request.query.get("id", ""))
        return web.Response(text=text, content_type="text/plain")

    async def _timelines(self, request: web.Request) -> web.Response:
        text = await self._stage.in_thread(self._timeline, request.query.get("id", ""))
        if not text:
            raise web.HTTPNotFound(text="there is no such set\n")
        return web.Response(text=text, content_type="image/svg+xml")

    async def _events(self, request: web.Request) -> web.StreamResponse:
        if self._listeners >= MAX_LISTENERS:
            raise web.HTTPServiceUnavailable(text="too many browsers are listening\n")
        self._listeners += 1
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            before: Scene | None = None
            async for scene in self._stage.scenes(HEARTBEAT):
                await response.write(b": still here\n\n" if scene is None else _event(before, scene))
                before = scene or before
            return response
        except ConnectionError:  # the page was closed, of which nobody need be told
            return response
        finally:
            self._listeners -= 1


def is_known_host(header: str, names: Collection[str]) -> bool:
    """Returns whether a `Host` header is an address, `localhost` or one of the names, with or without a port."""
    host, colon, port = header.lower().rpartition(":")
    name = host if colon and port.isdecimal() else header.lower()
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return name == "localhost" or name in names
    return True


def _event(before: Scene | None, scene: Scene) -> bytes:
    """Returns the changes of a page: all states for a new page or another graph, else those that differ."""
    known: list[Row] = before.rows if before is not None and before.id == scene.id else []
    sent = {row[0]: row for row in known}
    states = [row for row in scene.rows if sent.get(row[0]) != row]
    return f"data: {json.dumps({'live': scene.id, 'states': states, 'notes': scene.notes})}\n\n".encode()
