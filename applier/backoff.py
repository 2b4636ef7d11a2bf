"""Computes exponential back-off with jitter."""

from __future__ import annotations

import random

CHANCE = random.Random()  # shared: seeding a new one takes longer than a request


class Backoff:
    """Doubles the delay after each failure, from `first` up to `longest` seconds, with a jitter of up to half of it.

    The jitter prevents the clients of a restarted server from all reconnecting at once.
    """

    def __init__(self, first: float, longest: float, chance: random.Random | None = None) -> None:
        self.first, self.longest, self.failures = first, longest, 0
        self._chance = chance or CHANCE

    def next(self) -> float:
        """Returns the delay in seconds after a further failure."""
        wait = min(self.longest, self.first * 2.0 ** min(self.failures, 32))
        self.failures += 1
        return wait * self._chance.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Resets the delay after a success."""
        self.failures = 0
