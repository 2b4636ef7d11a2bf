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
        """Reports whether the run was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancels the run; it reports what was done until then."""
        self._cancelled.set()

    async def wait(self) -> None:
        """Waits until the run is cancelled."""
        await self._cancelled.wait()

    async def unless(self, waiting: Coroutine[Any, Any, T]) -> T | None:
        """Awaits something and returns its result, or None when the run is cancelled before."""
        task, end = asyncio.ensure_future(waiting), asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pending in (task, end):
                pending.cancel()
            await asyncio.gather(task, end, return_exceptions=True)
        return None if task.cancelled() else task.result()

    async def pause(self, seconds: float) -> None:
        """Sleeps. Raises `Stopped` as soon as the run is cancelled."""
        try:
            async with asyncio.timeout(seconds):
                await self._cancelled.wait()
        except TimeoutError:
            return
        raise Stopped


SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals of Ctrl-C, and of a pipeline, Job or machine that terminates us."""


@contextmanager
def ended_by_signal(stop: Stop, tell: Callable[[signal.Signals], None] = lambda _: None) -> Iterator[None]:
    """Cancels a run at the first SIGINT or SIGTERM while entered, inside a running event loop of the main thread, and calls `tell`.

    After the first signal the previous handlers are restored, so that a second one aborts the run. Where signals cannot be handled
    (Windows, other threads), nothing changes.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def cancel(number: signal.Signals) -> None:
        restore()
        stop.cancel()
        tell(number)

    def restore() -> None:
        for number, handler in before.items():
            if loop.remove_signal_handler(number):
                signal.signal(number, handler)

    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in SIGNALS:
            loop.add_signal_handler(number, cancel, number)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            restore()
