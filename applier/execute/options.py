"""Configures the execution of a plan: dry run, listeners, concurrency, and the time-outs of what a cluster does asynchronously."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from applier.events import Sink, nowhere
from applier.ref import Manifest, Ref
from applier.stop import Stop

if TYPE_CHECKING:
    from applier.execute.concurrency import Concurrency

AfterWrite = Callable[[Manifest], None]


@dataclass(frozen=True, slots=True, eq=False)
class Timeouts:
    """Sets the time-outs and polling intervals of a run, in seconds.

    Polls are `first` seconds apart at the beginning and `longest` at the end. `gone` is the time-out for a deleted object to disappear,
    `established` for a definition (CRD) to be served, `passing` for a rejection that is expected to be temporary. `decisions` is how often
    an object is decided on at most because another client writes to it concurrently.
    """

    first: float = 0.02
    longest: float = 1.0
    gone: float = 60.0
    established: float = 60.0
    passing: float = 10.0
    decisions: int = 5


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExecuteOptions:
    """Configures the execution of a plan.

    With `dry_run` the server validates every write and stores none. `sink` receives the events of the run. `after_write` is called with
    each written object as the server returned it, in a dry run as it would be. `concurrency` limits the writes in flight, by default with
    a limit of this run alone; writes count for `group` (see `Concurrency`). `stop` ends the run early. With `exact` an object is written
    only in the version that the plan was decided on. `is_unseen` reports whether nobody would see an object that was just written.
    """

    dry_run: bool = False
    sink: Sink = nowhere
    after_write: AfterWrite | None = None
    concurrency: Concurrency | None = None
    group: Hashable = None
    timeouts: Timeouts = Timeouts()
    stop: Stop = field(default_factory=Stop)
    exact: bool = False
    is_unseen: Callable[[Ref], bool] = lambda _: False
    overridden: Collection[Ref] = ()


async def poll(timeouts: Timeouts, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Yields at once, then at growing intervals for so many seconds, at least twice in all. Raises `Stopped`."""
    yield
    async for _ in backoff(timeouts, stop, seconds):
        yield


async def backoff(timeouts: Timeouts, stop: Stop, seconds: float) -> AsyncIterator[None]:
    """Yields at growing intervals for so many seconds, at least once. Raises `Stopped`."""
    loop = asyncio.get_running_loop()
    end, interval = loop.time() + seconds, timeouts.first
    while True:
        left = end - loop.time()
        await stop.pause(max(0.0, min(interval, left)))
        yield
        if left <= 0:
            return
        interval = min(timeouts.longest, interval * 1.5)
