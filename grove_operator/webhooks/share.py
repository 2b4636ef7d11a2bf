"""Keeps what is only helpful from taking the time of what is asked."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHARE, SHARE_WHEN_BUSY = 4, 400
"""One part in so many of the time. Who asks while something helpful is worked out waits for it, and of two hundred less than one may."""
BUSY = 10
"""Questions within a second."""

Clock = Callable[[], float]
"""Gives seconds, from wherever."""


class Traffic:
    """Tells whether much is asked, by when it was."""

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._asked: deque[float] = deque(maxlen=BUSY)

    def note(self) -> None:
        """Takes down that something is asked now."""
        self._asked.append(self._clock())

    @property
    def is_busy(self) -> bool:
        """Whether much was asked within the last second."""
        return len(self._asked) == BUSY and self._clock() - self._asked[0] < 1


class Share:
    """Allows work for a part of the time: after some it is over for three times as long, and much longer where the `traffic` is busy."""

    def __init__(self, clock: Clock = time.perf_counter, traffic: Traffic | None = None) -> None:
        self._clock, self._traffic = clock, traffic
        self._rests_until = float("-inf")

    @property
    def is_used_up(self) -> bool:
        """Whether nothing may be begun now."""
        return self._clock() < self._rests_until

    @contextmanager
    def work(self) -> Iterator[None]:
        """Surrounds work, whose time counts."""
        began = self._clock()
        try:
            yield
        finally:
            ended = self._clock()
            parts = SHARE_WHEN_BUSY if self._traffic is not None and self._traffic.is_busy else SHARE
            self._rests_until = ended + (ended - began) * (parts - 1)
