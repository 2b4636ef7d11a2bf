"""Ctrl-C: the first asks a run to end and to report, the second breaks it off."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from applier.execute.patience import Stop


@contextmanager
def ended_by_interrupt(stop: Stop, tell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """While entered, inside a running event loop of the main thread, the first SIGINT asks `stop`. `tell` is called then.

    From then on SIGINT does what it did before. Where signals cannot be handled (Windows, other threads), nothing changes.
    """
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def asked() -> None:
        give_back()
        stop.ask()
        tell()

    def give_back() -> None:
        if loop.remove_signal_handler(signal.SIGINT):
            signal.signal(signal.SIGINT, before)

    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGINT, asked)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            give_back()
