"""How a plan is carried out: who is told, how much is in flight, and how long is waited for what a cluster does in its own time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from applier.events import Sink, nowhere
from applier.ref import Manifest
from applier.stop import Stop

if TYPE_CHECKING:
    from applier.execute.concurrency import Concurrency

AfterWrite = Callable[[Manifest], None]


@dataclass(frozen=True, slots=True, eq=False)
class Timeouts:
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExecuteOptions:
    """How plans are carried out, in the words of kubectl where it has any.

    `dry_run` has the server try everything and write nothing. `sink` is told what happens. `after_write` takes each written object as
    the server answered; in a dry run, as it would be. `concurrency` limits the writes in flight; without, a limit of its own that
    adapts; of one `group` there are never as many as it allows. `stop` ends a run early. `exact` writes only over what the plan was
    decided on.
    """

    dry_run: bool = False
    sink: Sink = nowhere
    after_write: AfterWrite | None = None
    concurrency: Concurrency | None = None
    group: Hashable = None
    timeouts: Timeouts = Timeouts()
    stop: Stop = field(default_factory=Stop)
    exact: bool = False


async def poll(timeouts: Timeouts, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Comes back at once, then at growing distances for as long as given, at least twice in all. Raises `Stopped`."""
    yield
    async for _ in backoff(timeouts, stop, seconds):
        yield


async def backoff(timeouts: Timeouts, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Comes back at growing distances for as long as given, at least once. Raises `Stopped`."""
    loop = asyncio.get_running_loop()
    end, distance = loop.time() + seconds, timeouts.first
    while True:
        left = end - loop.time()
        await stop.pause(max(0.0, min(distance, left)))
        yield
        if left <= 0:
            return
        distance = min(timeouts.longest, distance * 1.5)
