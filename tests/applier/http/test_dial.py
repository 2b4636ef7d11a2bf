"""Connections that are never made."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from applier.http.dial import Address, dial
from applier.http.response import NotConnected

UNKNOWN = "no-such-host.invalid"  # RFC 6761: nobody will ever know it


def loops() -> dict[str, Callable[[], asyncio.AbstractEventLoop] | None]:
    try:
        import uvloop
    except ImportError:
        return {"asyncio": None}
    return {"asyncio": None, "uvloop": uvloop.new_event_loop}


async def give_up_and_hear(complaints: list[dict[str, Any]]) -> None:
    """Gives a connection up while its name is looked for, and lets the loop say what it has to say of that."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    with pytest.raises(NotConnected):
        await dial(Address(UNKNOWN, 443), None, 0.0001)
    with suppress(OSError):
        await loop.getaddrinfo(UNKNOWN, 443)  # comes after the answer that nobody waits for any more
    gc.collect()


@pytest.mark.parametrize("factory", loops().values(), ids=loops())
def test_a_name_that_nobody_knows_leaves_no_error_behind(factory: Callable[[], asyncio.AbstractEventLoop] | None) -> None:
    complaints: list[dict[str, Any]] = []
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(give_up_and_hear(complaints))
    assert complaints == []
