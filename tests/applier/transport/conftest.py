"""A scripted server, and a cluster that is connected to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from applier.events import Event
from applier.transport import ApiCluster
from tests.connecting import connect_to

from .scripted import HASTY, Scripted, scripted


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted() as running:
        yield running


class Told(list[Event]):
    """The events that a cluster told of."""


@pytest_asyncio.fixture
async def told() -> Told:
    return Told()


@pytest_asyncio.fixture
async def cluster(server: Scripted, told: Told) -> AsyncIterator[ApiCluster]:
    async with connect_to(server.url, token="secret-token", sink=told.append, retries=HASTY) as connected:
        connected.wire.answered = True
        yield connected
