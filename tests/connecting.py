"""Connects to a server at a URL, where the product reads a kubeconfig."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Unpack

from applier.transport import ApiCluster
from applier.transport.connect import ConnectOptions
from applier.transport.login.credentials import Fixed
from applier.transport.login.target import Target


@asynccontextmanager
async def connect_to(
    url: str,
    *,
    token: str = "",
    ca: str = "",
    certificate: tuple[str, str] = ("", ""),
    insecure: bool = False,
    server_name: str = "",
    **options: Unpack[ConnectOptions],
) -> AsyncIterator[ApiCluster]:
    """Connects to the server at a URL. `ca` and `certificate` (with its key) are PEM text; `server_name` is that of its certificate."""
    credentials = Fixed.token(token, certificate)
    cluster = ApiCluster(Target(url.rstrip("/"), credentials, ca=ca, insecure=insecure, server_name=server_name), **options)
    try:
        yield cluster
    finally:
        await cluster.close()
