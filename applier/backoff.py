"""Computes how long to wait before something that failed is tried again."""

from __future__ import annotations

import random

CHANCE = random.Random()  # one for all: to seed a new one costs more than a request


class Backoff:
    """Twice as long after each failure, at most `longest` seconds, each time by chance between half of that and all of it.

    Chance keeps the clients of a restarted server from all coming back at once.
    """

    def __init__(self, first: float, longest: float, chance: random.Random | None = None) -> None:
        self.first, self.longest, self.failures = first, longest, 0
        self._chance = chance or CHANCE

    def next(self) -> float:
        """Returns the seconds to wait after one more failure."""
        wait = min(self.longest, self.first * 2.0 ** min(self.failures, 32))
        self.failures += 1
        return wait * self._chance.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Starts over, since all went well: the next failure is the first."""
        self.failures = 0
