"""Serves metrics and health over HTTP, on aiohttp, each on its own port (shipped semantics §11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aiohttp import web

from grove_operator.telemetry.health import Health

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class Listener:
    """An HTTP server on one address."""

    def __init__(self, *routes: web.RouteDef) -> None:
        self._application = web.Application()
        self._application.add_routes(routes)
        self._runner = web.AppRunner(self._application, access_log=None, handle_signals=False)

    async def start(self, host: str, port: int) -> int:
        """Begins to listen and returns the port; the system chooses one for 0. Raises `OSError`."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host or None, port).start()
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        await self._runner.cleanup()


def metrics_listener(registry: CollectorRegistry) -> Listener:
    """Returns the server of `/metrics`, in the format that the scraper accepts."""
    from prometheus_client.exposition import choose_encoder

    async def metrics(request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(registry), headers={"Content-Type": content_type})

    return Listener(web.get("/metrics", metrics))


def health_listener(check: Callable[[], Health]) -> Listener:
    """Returns the server of `/healthz` and `/readyz`, which answer with the health message and the status 200 or 503."""

    async def alive(_: web.Request) -> web.Response:
        health = check()
        return _answer(health.is_alive, health)

    async def ready(_: web.Request) -> web.Response:
        health = check()
        return _answer(health.is_ready, health)

    return Listener(web.get("/healthz", alive), web.get("/readyz", ready))


def _answer(is_healthy: bool, health: Health) -> web.Response:
    return web.Response(status=200 if is_healthy else 503, text=health.message + "\n")
