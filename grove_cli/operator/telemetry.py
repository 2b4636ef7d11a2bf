"""Serves metrics, health probes and traces of a running operator as configured, and logs its results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from grove_cli.cluster.listeners import Relay
from grove_cli.cluster.session import Failed, needing
from grove_compiler.version import __version__
from grove_operator.telemetry.health import MissingRights, Right, unreadable

if TYPE_CHECKING:
    from applier.cluster import Cluster
    from applier.loop import Result
    from grove_compiler.graph.node import Manifest
    from grove_compiler.step import Key
    from grove_operator.controller.log import Log
    from grove_operator.controller.operator import Operator
    from grove_operator.telemetry.health import HealthCheck
    from grove_operator.telemetry.metrics import OperatorMetrics
    from grove_operator.telemetry.server import Listener
    from grove_operator.telemetry.spans import Spans

OBSERVE = ("cluster", "observe")
MEANWHILE = "what needs it waits, everything else continues"
STATE_INTERVAL = 1.0
"""Seconds between two checks for a changed state, which is logged."""


class Telemetry:
    """Observes an operator. For a port of 0 or a missing section nothing is served and no library is imported.

    Raises `Failed` when a library that the configuration needs is not installed.
    """

    def __init__(self, config: Manifest, log: Log, relay: Relay) -> None:
        self._log = log
        server = config.get("server") or {}
        self._metrics_at, self._health_at = server.get("metrics") or {}, server.get("healthProbes") or {}
        self._metrics: OperatorMetrics | None = None
        if self._metrics_at.get("port"):
            self._metrics, self._metrics_listener = _metrics()
        self._missing = MissingRights()
        self._awaited = ""
        self._spans: Spans | None = None
        self._end_spans: Callable[[], None] = lambda: None
        tracing = config.get("tracing") or {}
        if tracing.get("endpoint"):
            self._spans, self._end_spans = _spans(tracing)
        relay.listeners += [listener for listener in (self._metrics, self._spans) if listener is not None]
        self.wait: Callable[[float], None] = self._metrics.queue_wait if self._metrics else lambda _: None
        self.work: Callable[[float], None] = self._metrics.queue_work if self._metrics else lambda _: None

    def wait_for(self, awaited: str) -> None:
        """Has the operator be not ready while this is waited for; empty for nothing."""
        self._awaited = awaited

    def start(self, key: Key) -> None:
        """Observes the start of a reconciliation."""
        if self._spans:
            self._spans.start(key)

    def result(self, result: Result[Key]) -> None:
        """Observes the result of a reconciliation."""
        self._log.result(result)
        self._missing.result(result)
        if self._metrics:
            self._metrics.result(result)
        if self._spans:
            self._spans.result(result)

    def reloaded(self, outcome: str) -> None:
        """Counts a reload of rules by its outcome."""
        if self._metrics:
            self._metrics.reloaded(outcome)

    @asynccontextmanager
    async def serving(self, operator: Operator, cluster: Cluster) -> AsyncIterator[None]:
        """Serves while entered. Raises `Failed` when it cannot listen on an address."""
        from grove_operator.telemetry.health import HealthCheck

        check = HealthCheck(operator, lambda: self._awaited)
        async with AsyncExitStack() as stack:
            stack.callback(self._end_spans)
            if self._metrics:
                # `Connection` counts its requests; other implementations of `Cluster` are for tests.
                self._metrics.watch(operator, cluster, check, self._missing)  # type: ignore[arg-type]
                await self._listen(stack, self._metrics_listener, self._metrics_at, "metrics")
            if self._health_at.get("port"):
                await self._listen(stack, _health(check), self._health_at, "health")
            states = asyncio.create_task(self._log_states(check, operator), name="states")
            stack.callback(states.cancel)
            yield

    async def _listen(self, stack: AsyncExitStack, listener: Listener, at: Manifest, what: str) -> None:
        host, port = at.get("bindAddress", ""), at["port"]
        stack.push_async_callback(listener.stop)
        try:
            bound = await listener.start(host, port)
        except OSError as error:
            raise Failed(f"cannot serve {what} at {host}:{port}: {error.strerror or error}") from None
        self._log.line("listening", what=what, port=bound)

    async def _log_states(self, check: HealthCheck, operator: Operator) -> None:
        before, missing, unread = None, dict[Right, str](), dict[str, str]()
        while True:
            health = check()
            if health.state is not before:
                before = health.state
                self._log.line(health.state, "info" if health.is_alive else "error", why=health.message)
            missing = self._log_rights(missing, self._missing.now(operator.cache))
            unread = self._log_unreadable(unread, unreadable(operator))
            await asyncio.sleep(STATE_INTERVAL)

    def _log_rights(self, before: dict[Right, str], now: dict[Right, str]) -> dict[Right, str]:
        """Logs which rights are newly missing and which were granted since. Returns the missing ones."""
        for verb, resource in now.keys() - before.keys():
            self._log.line("missing permission", "error", verb=verb, resource=resource, why=now[verb, resource], meanwhile=MEANWHILE)
        for verb, resource in before.keys() - now.keys():
            self._log.line("permission restored", verb=verb, resource=resource)
        return now

    def _log_unreadable(self, before: dict[str, str], now: dict[str, str]) -> dict[str, str]:
        """Logs which kinds can no longer be read, and which can again. Returns the former."""
        for kind in now.keys() - before.keys():
            self._log.line("cannot be read", "error", kind=kind, why=now[kind], meanwhile=MEANWHILE)
        for kind in before.keys() - now.keys():
            self._log.line("can be read again", kind=kind)
        return now


def _metrics() -> tuple[OperatorMetrics, Listener]:
    with needing("metrics need", *OBSERVE, otherwise="server.metrics.port: 0"):
        from grove_operator.telemetry.metrics import OperatorMetrics
        from grove_operator.telemetry.server import metrics_listener
    metrics = OperatorMetrics()
    return metrics, metrics_listener(metrics.registry)


def _health(check: HealthCheck) -> Listener:
    with needing("health probes need", *OBSERVE, otherwise="server.healthProbes.port: 0"):
        from grove_operator.telemetry.server import health_listener
    return health_listener(check)


def _spans(tracing: Manifest) -> tuple[Spans, Callable[[], None]]:
    with needing("spans need", *OBSERVE, "traces", otherwise="no tracing.endpoint"):
        from grove_operator.telemetry.spans import exporting

        return exporting(tracing["endpoint"], tracing["samplingRatePerMillion"], __version__)
