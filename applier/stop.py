"""Ends a run early and in good order, on request or by a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

STOPPED = "not done: the run was stopped before"


class Stopped(Exception):
    """Ends a wait because the run was cancelled."""


class Stop:
    """Cancels a run: requests in flight are finished, waits end at once, and nothing new is begun."""

    def __init__(self) -> None:
        self._cancelled = asyncio.Event()

    @property
    def is_cancelled(self) -> bool:
        """Tells whether the run was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancels the run; it reports what was done until then."""
        self._cancelled.set()

    async def wait(self) -> None:
        """Waits until the run is to end."""
        await self._cancelled.wait()

    async def unless(self, waiting: Coroutine[Any, Any, T]) -> T | None:
        """Awaits something and returns its result, or None when the run is cancelled before."""
        task, end = asyncio.ensure_future(waiting), asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (task, end):
                one.cancel()
            await asyncio.gather(task, end, return_exceptions=True)
        return None if task.cancelled() else task.result()

    async def pause(self, seconds: float) -> None:
        """Sleeps. Raises `Stopped` as soon as the run is to end."""
        try:
            async with asyncio.timeout(seconds):
                await self._cancelled.wait()
        except TimeoutError:
            return
        raise Stopped


SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C of a person, and the word of whoever runs us that time is up: a pipeline, a Job, a machine that goes down."""


@contextmanager
def ended_by_signal(stop: Stop, tell: Callable[[signal.Signals], None] = lambda _: None) -> Iterator[None]:
    """Cancels a run at the first SIGINT or SIGTERM while entered, inside a running event loop of the main thread. `tell` is called then.

    From then on both do what they did before: a second one breaks the run off. Where signals cannot be handled (Windows, other
    threads), nothing changes.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def ended(number: signal.Signals) -> None:
        give_back()
        stop.cancel()
        tell(number)

    def give_back() -> None:
        for number, handler in before.items():
            if loop.remove_signal_handler(number):
                signal.signal(number, handler)

    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in SIGNALS:
            loop.add_signal_handler(number, ended, number)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            give_back()
