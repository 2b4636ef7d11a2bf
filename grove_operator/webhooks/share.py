"""Limits optional work, such as previews and trials, to a share of the time, so that it does not delay reviews."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHARE, SHARE_WHEN_BUSY = 4, 400
"""The share of the time is one part in so many. Reviews during optional work wait for it: under load less than one in two hundred."""
BUSY = 10
"""Requests within a second from which on the server is busy."""

Clock = Callable[[], float]
"""Returns seconds from an arbitrary start."""


class Traffic:
    """Measures the rate of requests."""

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._requests: deque[float] = deque(maxlen=BUSY)

    def note(self) -> None:
        """Counts a request."""
        self._requests.append(self._clock())

    @property
    def is_busy(self) -> bool:
        """Whether there were `BUSY` requests within the last second."""
        return len(self._requests) == BUSY and self._clock() - self._requests[0] < 1


class Share:
    """Allows optional work for a share of the time: after each work it pauses three times as long, and longer under load."""

    def __init__(self, clock: Clock = time.perf_counter, traffic: Traffic | None = None) -> None:
        self._clock, self._traffic = clock, traffic
        self._paused_until = float("-inf")

    @property
    def is_exhausted(self) -> bool:
        """Whether the share is exhausted, and no work may begin."""
        return self._clock() < self._paused_until

    @contextmanager
    def work(self) -> Iterator[None]:
        """Measures the work while entered."""
        began = self._clock()
        try:
            yield
        finally:
            ended = self._clock()
            parts = SHARE_WHEN_BUSY if self._traffic is not None and self._traffic.is_busy else SHARE
            self._paused_until = ended + (ended - began) * (parts - 1)
