"""Serves the webhooks over HTTPS, on aiohttp, and closes idle connections, of which a client may open thousands."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from grove_compiler.graph.node import Manifest
from grove_compiler.unknown import Unknown
from grove_operator.webhooks.review import NoReview

FIRST_REQUEST = 20.0
"""Seconds within which a new connection has to send the headers of a request."""
KEEP_ALIVE = 120.0
"""Seconds for which a connection stays open after a request. Clients in Go, such as API servers, close theirs after 90."""
LEAVING = 2.0
"""Seconds for which a server that ends goes on to answer, and closes each connection with its response: a request that a client in Go sends
on a connection that is just being closed is lost."""
INTERVAL = 5.0
MAX_BODY = 16 << 20
"""Bytes. API servers accept objects of 3 MB; a review has the new and the old one, which JSON may double in size."""
MAX_READ = 10.0
"""Seconds for the body to arrive: an API server waits that long for the response, and sends the body at once."""
MAX_PATH_LENGTH = 64
"""Characters of a request's path in the log."""

Log = Callable[[str], None]
Answer = Callable[[object, int], Manifest | Awaitable[Manifest]]
"""Returns the response to the body of a review, and its size in bytes. Raises `NoReview`, and `Unknown` until the cache is synced."""


class IdleConnections:
    """Closes idle connections of a server; `connections` returns the open ones."""

    def __init__(self, connections: Callable[[], Iterable[web.RequestHandler]]) -> None:
        self._connections = connections
        self._ends: dict[web.RequestHandler, float] = {}
        self._busy: set[web.RequestHandler] = set()

    @asynccontextmanager
    async def in_request(self, connection: web.RequestHandler) -> AsyncIterator[None]:
        """Marks a connection as busy with a request while entered."""
        self._busy.add(connection)
        try:
            yield
        finally:
            self._busy.discard(connection)
            self._ends[connection] = _now() + KEEP_ALIVE

    async def watch(self) -> None:
        """Closes idle connections every `INTERVAL` seconds, until cancelled."""
        while True:
            self.close_idle()
            await asyncio.sleep(INTERVAL)

    def close_idle(self) -> None:
        """Closes idle connections once."""
        now, before = _now(), self._ends
        self._ends = {connection: before.get(connection, now + FIRST_REQUEST) for connection in self._connections()}
        for connection, end in self._ends.items():
            if end <= now and connection not in self._busy:
                connection.force_close()


def _now() -> float:
    return asyncio.get_running_loop().time()


class ReviewServer:
    """Serves reviews until `stop`, each path by a function of `answers`; the owner sets `is_ready` once the cache is synced.

    Errors are responses with another status than 200, which an API server handles by its `failurePolicy`. Internal errors are passed to
    `log` as one line each.
    """

    def __init__(self, answers: Mapping[str, Answer], tls: ssl.SSLContext, log: Log) -> None:
        self.is_ready, self._is_ending = False, False
        self._tls, self._log = tls, log
        self._application = web.Application(client_max_size=MAX_BODY)
        self._application.add_routes([web.post(path, self._answering(answer)) for path, answer in answers.items()])
        self._application.add_routes([web.get("/healthz", self._health), web.get("/readyz", self._readiness)])
        self._runner: web.AppRunner | None = None
        self._idle = IdleConnections(self._connections)
        self._watch: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> int:
        """Begins to listen and returns the port; the system chooses one for 0. Raises `OSError`."""
        # Errors of clients are answered, and not logged: anybody could fill the log with them.
        quiet = logging.Logger("webhooks", logging.CRITICAL + 1)
        self._runner = web.AppRunner(self._application, access_log=None, handle_signals=False, logger=quiet, keepalive_timeout=KEEP_ALIVE)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host or None, port, ssl_context=self._tls)
        await site.start()
        self._watch = asyncio.create_task(self._idle.watch(), name="idle connections")
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        """Has clients leave, stops listening, and answers the requests in progress."""
        self._is_ending, end = True, _now() + LEAVING
        while self._connections() and _now() < end:
            await asyncio.sleep(0.05)
        if self._watch is not None:
            self._watch.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    def _connections(self) -> list[web.RequestHandler]:
        return list(self._runner.server.connections) if self._runner is not None and self._runner.server is not None else []

    def _answering(self, answer: Answer) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            async with self._idle.in_request(request.protocol):
                response = await respond(request)
                if self._is_ending:
                    response.force_close()
                return response

        async def respond(request: web.Request) -> web.Response:
            try:
                async with asyncio.timeout(MAX_READ):
                    body = await request.read()
            except TimeoutError:
                return _refused(408, f"the body did not arrive within {MAX_READ:.0f} s")
            except web.HTTPException:
                raise
            except Exception:  # a body in another encoding than its headers declare, or a connection that ends within it
                return _refused(400, "the body cannot be read")
            try:
                review = json.loads(body, parse_constant=_no_number)
            except (ValueError, RecursionError):
                return _refused(400, "the body is not valid JSON")
            try:
                # A review is some milliseconds of computation, for which a thread would wait for the same interpreter lock (see `aside`).
                response = answer(review, len(body))
                return web.json_response(response if isinstance(response, dict) else await response)
            except NoReview as error:
                return _refused(400, str(error))
            except RecursionError:
                return _refused(400, "the object is nested too deeply")
            except Unknown as error:
                return _refused(503, f"not known yet: {error}")
            except Exception as error:
                self._log(f"{request.path[:MAX_PATH_LENGTH]}: {type(error).__name__}: {error}")
                return _refused(500, "an internal error: see the log of the webhook")

        return handle

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readiness(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n") if self.is_ready else _refused(503, "starting: the cluster is still being read")


def _no_number(text: str) -> None:
    """Rejects NaN and Infinity, which are no JSON although Python reads them."""
    raise ValueError(text)


def _refused(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text + "\n")
