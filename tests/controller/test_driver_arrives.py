"""A process that began with the designs' ComputeDomains ends once NVIDIA's driver is there, so that the next one uses that."""

from __future__ import annotations

import asyncio
import io
from types import SimpleNamespace
from typing import Any

import pytest

from applier.errors import UnknownKind, Unreachable
from applier.ref import Kind
from applier.stop import Stop
from applier.testing.virtual_time import run_virtual
from grove_cli.operator import operate
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED, DRIVER
from grove_compiler.model.inputs.settings import Settings
from grove_operator.controller.live_objects import COMPUTE_DOMAIN
from grove_operator.controller.log import Log
from grove_operator.controller.operator import ARRIVAL_PAUSE, driver_arrives

INSTALLED = 10 * ARRIVAL_PAUSE
"""Seconds until the driver is there."""


class Server:
    """A server that is away at first, and serves the driver's kind later."""

    def __init__(self) -> None:
        self.began = asyncio.get_running_loop().time()

    async def resource(self, kind: Kind) -> Any:
        now = asyncio.get_running_loop().time() - self.began
        if now < INSTALLED / 2:
            raise Unreachable("away")
        if kind != COMPUTE_DOMAIN or now < INSTALLED:
            raise UnknownKind(str(kind))
        return None


async def arrives(shape: str) -> float | None:
    """After how many seconds it is noticed; none for never."""
    began = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(INSTALLED * 10):
            await driver_arrives(Server(), Settings(mnnvl_shape=shape))  # type: ignore[arg-type]
    except TimeoutError:
        return None
    return asyncio.get_running_loop().time() - began


def test_a_driver_that_is_installed_is_noticed_by_who_began_without_it() -> None:
    assert run_virtual(arrives(AS_PROPOSED)) == pytest.approx(INSTALLED, abs=ARRIVAL_PAUSE)


def test_who_has_its_form_waits_for_nothing() -> None:
    assert run_virtual(arrives(DRIVER)) is None


def test_an_operator_ends_in_good_order_and_says_why() -> None:
    stream = io.StringIO()
    ended: list[float] = []

    async def run() -> None:
        stopped = asyncio.Event()

        def stop(grace: float) -> None:
            ended.append(grace)
            stopped.set()

        operator = SimpleNamespace(run=stopped.wait, stop=stop)
        session = SimpleNamespace(cluster=Server())
        context = SimpleNamespace(settings=Settings(mnnvl_shape=AS_PROPOSED))

        async def arrival() -> None:
            await operate._driver_arrives(session, context, Log(stream, {}))  # type: ignore[arg-type]

        await operate._until(Stop(), operator, [arrival])  # type: ignore[arg-type]

    run_virtual(run())
    assert ended == [operate.GRACE]
    assert "driver has been installed" in stream.getvalue()
