"""How many writes are in flight: as many as the server takes well.

More is tried as long as it pays: additive increase while a round of writes is carried out faster than the rounds before, and a step back
when it is not, since a saturated server only answers later. When the server asks us to slow down (429), half as many at once and none
before the time it named.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from applier.errors import TooManyRequests
from applier.events import Sink, Throttled, nowhere

T = TypeVar("T")

GAIN = 1.05
"""By which factor a round has to be faster than the best before it, to be worth more writes at once."""


class Concurrency:
    """A limit on writes in flight, between `least` and `most`, that starts at `start`.

    `throttled` counts the refusals for haste that the transport has had, which it repeats by itself without our seeing them.
    """

    def __init__(
        self,
        start: int = 16,
        least: int = 1,
        most: int = 64,
        *,
        throttled: Callable[[], int] = lambda: 0,
        sink: Sink = nowhere,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit, self.least, self.most = start, least, most
        self.throttled, self.sink, self.clock = throttled, sink, clock
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seen = throttled()
        self._closed_until = float("-inf")
        self._round_ended, self._done, self._best = clock(), 0, 0.0

    def __repr__(self) -> str:
        return f"<Concurrency {self.in_flight} of {self.limit} in flight, {len(self._waiting)} waiting>"

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes one request when there is room for it, and learns from how it goes."""
        await self._enter()
        try:
            result = await call()
        except TooManyRequests as error:
            self.slow_down(error.retry_after or 1.0)
            raise
        else:
            self._learn()
            return result
        finally:
            self.in_flight -= 1
            self._wake()

    def slow_down(self, seconds: float) -> None:
        """Halves the limit, once for all requests that were under way together, and begins no write for so many seconds."""
        now = self.clock()
        if now >= self._closed_until:
            self.limit = max(self.least, self.limit // 2)
            self._new_round(now, best=0.0)
            self.sink(Throttled(seconds, self.limit))
        self._closed_until = max(self._closed_until, now + seconds)

    async def _enter(self) -> None:
        """Waits for room. A place that becomes free is handed to who waited longest."""
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
        else:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._leave_queue(place)
                raise
        while (wait := self._closed_until - self.clock()) > 0:
            await asyncio.sleep(wait)

    def _leave_queue(self, place: asyncio.Future[None]) -> None:
        if place.done() and not place.cancelled():
            self.in_flight -= 1
            self._wake()
        else:
            self._waiting.remove(place)

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)

    def _learn(self) -> None:
        """Counts an answer; after a round of as many answers as the limit, sees whether more or fewer pay."""
        count = self.throttled()
        if count > self._seen:
            self._seen = count
            return self.slow_down(0.0)
        if not self._waiting:  # not held back by the limit, so that the speed says nothing about it
            return self._new_round(self.clock(), self._best)
        self._done += 1
        if self._done < self.limit:
            return None
        now = self.clock()
        speed = self._done / max(now - self._round_ended, 1e-9)
        if speed > self._best * GAIN:
            self.limit, best = min(self.most, self.limit + 2), speed
        else:
            self.limit, best = max(self.least, self.limit - 1), self._best * 0.98
        return self._new_round(now, best=best)

    def _new_round(self, now: float, best: float) -> None:
        self._round_ended, self._done, self._best = now, 0, best
