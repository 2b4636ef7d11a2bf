"""How long and how often is waited for what a cluster does in its own time, and how a run is stopped meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass


class Stopped(Exception):
    """The run was asked to stop while it waited."""


@dataclass(slots=True, eq=False)
class Patience:
    """All times in seconds. Looks at something begin `first` apart and end `longest` apart.

    `gone` is for a deleted object to go, `established` for a definition (CRD) to be served, `passing` for a refusal that passes by
    itself. `decisions` is how often one object is decided on again because somebody else wrote to it.
    """

    first: float = 0.02
    longest: float = 1.0
    gone: float = 60.0
    established: float = 60.0
    passing: float = 10.0
    decisions: int = 5


class Stop:
    """Whether a run is to end. What is in flight is finished, waits end at once, and nothing new is begun."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()

    @property
    def asked(self) -> bool:
        """Whether somebody has asked."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Asks the run to end. It reports what was done until then."""
        self._asked.set()

    async def come(self) -> None:
        """Returns once the run is to end."""
        await self._asked.wait()

    async def pause(self, seconds: float) -> None:
        """Sleeps. Raises `Stopped` as soon as the run is to end."""
        try:
            await asyncio.wait_for(self._asked.wait(), seconds)
        except TimeoutError:
            return
        raise Stopped


async def looks(patience: Patience, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Comes back at once, then at growing distances for as long as given, at least twice in all. Raises `Stopped`."""
    yield
    async for _ in pauses(patience, stop, seconds):
        yield


async def pauses(patience: Patience, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Comes back at growing distances for as long as given, at least once. Raises `Stopped`."""
    loop = asyncio.get_running_loop()
    end, distance = loop.time() + seconds, patience.first
    while True:
        left = end - loop.time()
        await stop.pause(max(0.0, min(distance, left)))
        yield
        if left <= 0:
            return
        distance = min(patience.longest, distance * 1.5)
