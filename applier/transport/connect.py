"""Connects to clusters, and runs the event loop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from applier.events import Sink
from applier.transport.api_cluster import ApiCluster, Warn
from applier.transport.login.find import find_target
from applier.transport.login.kubeconfig import NO_OVERRIDES
from applier.transport.retries import Retries
from applier.transport.wire import Trace

T = TypeVar("T")


class ConnectOptions(TypedDict, total=False):
    """Types the options of a connection.

    `user_agent` names us in audit logs ("applier"). `cache_dir` caches discovery and compiled schemas between runs. `sink` receives
    events, `warn` the server's warnings. `validation` is how the server treats unknown fields in creates and patches: Strict (the default),
    Warn or Ignore; in applies it always rejects them. `retries` configures retries. `trace` receives each try: method, path, status (0
    without a response), and seconds.
    """

    user_agent: str
    cache_dir: Path | None
    sink: Sink
    warn: Warn
    validation: str
    retries: Retries | None
    trace: Trace


@asynccontextmanager
async def connect(
    *, kubeconfig: str = "", context: str = "", user: Mapping[str, Any] = NO_OVERRIDES, **options: Unpack[ConnectOptions]
) -> AsyncIterator[ApiCluster]:
    """Connects to the cluster of a kubeconfig's context, or to the one that we run in.

    The fields of `user` replace those of the kubeconfig's user. Sends no request yet. Raises `CredentialsError`.
    """
    cluster = ApiCluster(find_target(kubeconfig, context, os.environ, overrides=user), **options)
    try:
        yield cluster
    finally:
        await cluster.close()


class Terminated(BaseException):
    """Ends the program after SIGTERM, once everything in progress was ended in order."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, in uvloop if that is installed. Raises `Terminated` on a SIGTERM that the coroutine does not handle."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_until_terminated(main))


async def _until_terminated(main: Coroutine[Any, Any, T]) -> T:
    """Cancels the coroutine on SIGTERM, as asyncio does on SIGINT; otherwise a credential plugin that hangs would outlive us."""
    loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), []
    loop.set_exception_handler(unhandled)

    def terminate(*_: object) -> None:
        assert task is not None
        signals.append(signal.SIGTERM)
        loop.call_soon_threadsafe(task.cancel)

    # A handler of the process and not of the loop, so that `applier.stop`, which replaces it for a while, can restore it.
    before = None
    with suppress(ValueError):  # threads may not handle signals
        before = signal.signal(signal.SIGTERM, terminate)
    try:
        return await main
    except asyncio.CancelledError:
        if signals:
            raise Terminated from None
        raise
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Reports an unhandled error as asyncio does, except for writes to connections that the server has closed.

    uvloop may write the end of TLS to a connection that is gone, as after the server was killed, and would print a traceback. Whoever
    awaits a response on the connection gets an error from its end.
    """
    error = context.get("exception")
    if not (isinstance(error, RuntimeError) and "the handler is closed" in str(error)):
        loop.default_exception_handler(context)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
