"""Serves the webhooks over HTTPS, on aiohttp."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Unknown
from grove_operator.webhooks.idle import KEPT, Connection, IdleConnections
from grove_operator.webhooks.review import NoReview

LARGEST_BODY = 16 << 20
"""Bytes. etcd takes 1.5 MB and an API server 3 MB of an object; a review holds the new and the old one, and JSON may double them."""
LONGEST_READ = 10.0
"""Seconds for the body to arrive: an API server gives an answer that long at most, and sends the question at once."""
LONGEST_QUESTION = 64
"""Characters of a request's own words that are told in the log."""

Tell = Callable[[str], None]
Answer = Callable[[object], Manifest | Awaitable[Manifest]]
"""Takes a body and gives an AdmissionReview, at once or later. Raises `NoReview`, and `Unknown` while the cluster is not known."""


class WebhookServer:
    """Answers reviews until `stop`, each path by a function of `answers`; `is_ready` is set once they know the cluster.

    `tls` shows a certificate. Whatever goes wrong is an answer that is no review, which an API server takes as its `failurePolicy` says:
    never as allowed. `tell` is given one line about each failure of ours.
    """

    def __init__(self, answers: Mapping[str, Answer], tls: ssl.SSLContext, tell: Tell) -> None:
        self.is_ready = False
        self._tls, self._tell = tls, tell
        self._application = web.Application(client_max_size=LARGEST_BODY)
        self._application.add_routes([web.post(path, self._answering(answer)) for path, answer in answers.items()])
        self._application.add_routes([web.get("/healthz", self._health), web.get("/readyz", self._readiness)])
        self._runner: web.AppRunner | None = None
        self._idle = IdleConnections(self._connections)
        self._watch: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> int:
        """Begins to listen and returns the port, which the system chooses for 0. Raises `OSError` where that is not possible."""
        # What a client does wrong is its own affair: it gets an answer, and the log none of it.
        quiet = logging.Logger("webhooks", logging.CRITICAL + 1)
        self._runner = web.AppRunner(self._application, access_log=None, handle_signals=False, logger=quiet, keepalive_timeout=KEPT)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host or None, port, ssl_context=self._tls)
        await site.start()
        self._watch = asyncio.create_task(self._idle.watch(), name="idle connections")
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        """Answers what was asked already, and listens no more."""
        if self._watch is not None:
            self._watch.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    def _connections(self) -> list[Connection]:
        return list(self._runner.server.connections) if self._runner is not None and self._runner.server is not None else []

    def _answering(self, answer: Answer) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            async with self._idle.asked(request.protocol):
                return await respond(request)

        async def respond(request: web.Request) -> web.Response:
            try:
                async with asyncio.timeout(LONGEST_READ):
                    body = await request.read()
            except TimeoutError:
                return _refused(408, f"the body did not arrive within {LONGEST_READ:.0f} s")
            except web.HTTPException:
                raise
            except Exception:  # a body that is not packed as its headers say, or a connection that ends within it
                return _refused(400, "the body cannot be read")
            try:
                review = json.loads(body, parse_constant=_no_number)
            except (ValueError, RecursionError):
                return _refused(400, "the body is no JSON that can be read")
            try:
                # Some milliseconds of computing, so it is done here: a thread would wait for the same interpreter.
                answered = answer(review)
                return web.json_response(answered if isinstance(answered, dict) else await answered)
            except NoReview as error:
                return _refused(400, str(error))
            except RecursionError:
                return _refused(400, "the object is nested too deeply")
            except Unknown as error:
                return _refused(503, f"not known yet: {error}")
            except Exception as error:
                self._tell(f"{request.path[:LONGEST_QUESTION]}: {type(error).__name__}: {error}")
                return _refused(500, "an internal error, which the log of the webhook tells")

        return handle

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readiness(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n") if self.is_ready else _refused(503, "starting: the cluster is still being read")


def _no_number(text: str) -> None:
    """Refuses NaN and Infinity, which are no JSON although Python reads them."""
    raise ValueError(text)


def _refused(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text + "\n")
