"""Provides an event loop with virtual time, which advances only when all tasks wait: tests of hours take milliseconds and are not flaky."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class NobodyWakes(RuntimeError):
    """Reports a deadlock: all tasks wait, and there is no timer."""


class _Leaping(selectors.DefaultSelector):
    """Implements a selector that advances virtual time instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise NobodyWakes("every task waits, and no timer is set")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Implements an event loop whose `time()` begins at 0 and jumps to the next timer whenever all tasks wait."""

    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)
        # A timer is due once it is less than this ahead. The default, a nanosecond, is lost in the rounding of a float after 97 days:
        # no timer would ever be due again, and the loop would spin.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._leaping.now


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Turns an asynchronous test into one that runs in virtual time."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_virtual(test(*args, **kwargs))

    return run
