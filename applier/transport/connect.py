"""Connections to clusters, and the event loop that they run in."""

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
from applier.transport.login.credentials import Fixed
from applier.transport.login.find import find_target
from applier.transport.login.kubeconfig import NO_OVERRIDES
from applier.transport.login.target import Target
from applier.transport.retries import Retries
from applier.transport.wire import Trace

T = TypeVar("T")


class Options(TypedDict, total=False):
    """How to talk to a cluster.

    `user_agent` is what its audit log calls us ("applier"). `cache_dir` keeps discovery and compiled schemas from run to run. `sink` takes
    events, `warn` the server's warnings. `validation` is Strict, Warn or Ignore: what the server does about fields that it does not know
    in what we create and patch (Strict); of what is applied it refuses them always. `retries` says how often and how long a request is
    tried. `trace` is told of each try: method, path, status (0 without an answer), and seconds.
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
    *, kubeconfig: str = "", context: str = "", user: Mapping[str, Any] = NO_OVERRIDES, **options: Unpack[Options]
) -> AsyncIterator[ApiCluster]:
    """Connects to the cluster of a kubeconfig's context, or to the one that we run in.

    `user` has fields of the user in place of those of the kubeconfig. Sends nothing yet. Raises `CredentialsError`.
    """
    async with _open(find_target(kubeconfig, context, os.environ, overrides=user), options) as cluster:
        yield cluster


@asynccontextmanager
async def connect_to(
    url: str,
    *,
    token: str = "",
    ca: str = "",
    certificate: tuple[str, str] = ("", ""),
    insecure: bool = False,
    server_name: str = "",
    namespace: str = "default",
    **options: Unpack[Options],
) -> AsyncIterator[ApiCluster]:
    """Connects to the cluster at a URL.

    `ca` and `certificate` (with its key) are PEM text; `server_name` is what the server's certificate is for.
    """
    credentials = Fixed.token(token, certificate)
    target = Target(url.rstrip("/"), credentials, namespace=namespace, ca=ca, insecure=insecure, server_name=server_name)
    async with _open(target, options) as cluster:
        yield cluster


@asynccontextmanager
async def _open(target: Target, options: Options) -> AsyncIterator[ApiCluster]:
    cluster = ApiCluster(target, **options)
    try:
        yield cluster
    finally:
        await cluster.close()


class Terminated(BaseException):
    """SIGTERM came, and what was under way has been ended in order."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, in uvloop where that is installed. Raises `Terminated` when SIGTERM comes and nobody else takes it."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_until_terminated(main))


async def _until_terminated(main: Coroutine[Any, Any, T]) -> T:
    """Cancels what runs on SIGTERM, as asyncio does on SIGINT: else a credential plugin that hangs would outlive us."""
    loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), []
    loop.set_exception_handler(unhandled)

    def terminate(*_: object) -> None:
        assert task is not None
        signals.append(signal.SIGTERM)
        loop.call_soon_threadsafe(task.cancel)

    # A handler of the process and not of the loop: whoever takes the signal for a while (`applier.stop`) can give this one back.
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
    """Tells of an error that no task has seen, as asyncio does, but for writes to connections that the server has closed.

    uvloop may write the end of TLS to a connection that it knows is gone (a server that is killed does that), and would print a traceback.
    Whoever waited for an answer on it is told by the connection's end.
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
