"""Waits for an API server that does not respond yet when an operator starts, as where both were on a node that was restarted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from applier.errors import ServerFailure, TooManyRequests, Unreachable, Untrusted
from grove_cli.cluster.session import say

T = TypeVar("T")

WITHIN = 90.0
"""Seconds. The startup probe of the chart gives a pod two minutes, and who ends is started again after longer and longer pauses."""
PAUSE = 2.0
TOLD_EVERY = 10.0


async def first_answer(ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Returns what the API server responds to the first requests of a process; asks again while it does not respond, or fails.

    Prints the reason at once and every few seconds. Raises it once `WITHIN` seconds are over, and errors that waiting does not solve.
    """
    clock = asyncio.get_running_loop().time
    end, told = clock() + WITHIN, float("-inf")
    while True:
        try:
            return await ask()
        except (Unreachable, ServerFailure, TooManyRequests) as error:
            if isinstance(error, Untrusted) or clock() + PAUSE > end:
                raise
            if clock() >= told + TOLD_EVERY:
                told = clock()
                say(f"waiting for the API server, {end - told:.0f} s more: {error}")
        await asyncio.sleep(PAUSE)
