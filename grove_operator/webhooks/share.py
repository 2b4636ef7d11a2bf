"""Keeps what is only helpful from taking the time of what is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHARE = 4
"""One part in so many of the time."""


class Share:
    """Allows work for a part of the time: after some it is over for three times as long. `clock` gives seconds, from wherever."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
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
            self._rests_until = ended + (ended - began) * (SHARE - 1)
