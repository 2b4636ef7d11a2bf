"""Connections to clusters, and the event loop that they run in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from applier.events import Sink, nowhere
from applier.transport.api_cluster import ApiCluster, Warn, unheard
from applier.transport.credentials import Fixed
from applier.transport.login import find_target
from applier.transport.retries import Retries
from applier.transport.target import Target

T = TypeVar("T")


@asynccontextmanager
async def connect(
    *,
    kubeconfig: str = "",
    context: str = "",
    user_agent: str = "applier",
    cache_dir: Path | None = None,
    sink: Sink = nowhere,
    warn: Warn = unheard,
    validation: str = "Strict",
    retries: Retries | None = None,
) -> AsyncIterator[ApiCluster]:
    """The cluster of a kubeconfig's context, or the one that we run in. Sends nothing yet.

    `cache_dir` keeps discovery and compiled schemas from run to run. `validation` is Strict, Warn or Ignore: what the server does about
    fields that it does not know. Raises `CredentialsError`.
    """
    target = find_target(kubeconfig, context, os.environ)
    cluster = ApiCluster(target, user_agent=user_agent, cache_dir=cache_dir, sink=sink, warn=warn, validation=validation, retries=retries)
    try:
        yield cluster
    finally:
        await cluster.close()


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
    user_agent: str = "applier",
    cache_dir: Path | None = None,
    sink: Sink = nowhere,
    warn: Warn = unheard,
    validation: str = "Strict",
    retries: Retries | None = None,
) -> AsyncIterator[ApiCluster]:
    """The cluster at a URL. `ca` and `certificate` (with its key) are PEM text; `server_name` is what the server's certificate is for."""
    credentials = Fixed.token(token, certificate)
    target = Target(url.rstrip("/"), credentials, namespace=namespace, ca=ca, insecure=insecure, server_name=server_name)
    cluster = ApiCluster(target, user_agent=user_agent, cache_dir=cache_dir, sink=sink, warn=warn, validation=validation, retries=retries)
    try:
        yield cluster
    finally:
        await cluster.close()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, in uvloop where that is installed."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(main)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
