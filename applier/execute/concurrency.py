"""How many writes are in flight: as many as the server takes well.

More are tried as long as it pays. A server that waits for something answers more when it is asked more at once; one that is saturated
only answers later, and then the limit goes back to where it was for a while. When the server slows down by itself the limit falls, and
when it asks us to (429), it is halved, and nothing is begun before the time that it named.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from applier.errors import TooManyRequests
from applier.events import Adapted, Sink, Throttled, nowhere

T = TypeVar("T")

PAYS = 0.3
"""What part of the writes that are added must show as speed, for more to be worth it."""
HOLD = 8
"""Rounds for which the limit stays after more did not pay. A round is as many answers as the limit."""

FEWEST = 4
"""Where the limit stops falling because answers are late: a write that waits for a webhook says nothing about the server, and some of these
places are for writes of others. Only a server that asks us to (429) gets fewer."""


def _clock() -> float:
    """Returns the event loop's time, by which `sleep` waits: with any other, a loop of virtual time would wait for ever.

    The machine's without.
    """
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


class Concurrency:
    """A limit on writes in flight, between `least` and `most`, that starts at `start`.

    Writes may be of a group: a quarter of the limit is kept from each group for the others, so that a group whose writes all wait for
    something, such as a webhook that does not answer, delays nobody else.

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
        clock: Callable[[], float] = _clock,
    ) -> None:
        self.limit, self.least, self.most = start, least, most
        self.throttled, self.sink, self.clock = throttled, sink, clock
        self.in_flight = 0
        self._of_group: Counter[Hashable] = Counter()
        self._waiting: deque[tuple[Hashable, asyncio.Future[None]]] = deque()
        self._seen = throttled()
        self._closed_until = float("-inf")
        self._round_began, self._done, self._held = clock(), 0, 0
        self._settled: tuple[int, float] | None = None  # the last limit that paid, and how many writes a second it gave

    def __repr__(self) -> str:
        return f"<Concurrency {self.in_flight} of {self.limit} in flight, {len(self._waiting)} waiting>"

    async def run(self, call: Callable[[], Awaitable[T]], group: Hashable = None) -> T:
        """Makes one request when there is room for it, and learns from how it goes."""
        await self._enter(group)
        try:
            result = await call()
        except TooManyRequests as error:
            self.slow_down(error.retry_after or 1.0)
            raise
        else:
            self._learn()
            return result
        finally:
            self._leave(group)

    def slow_down(self, seconds: float) -> None:
        """Halves the limit, once for all requests that were under way together, and begins no write for so many seconds."""
        now = self.clock()
        if now >= self._closed_until:
            self.limit = max(self.least, self.limit // 2)
            self._settled = None
            self._new_round(now)
            self.sink(Throttled(seconds, self.limit))
        self._closed_until = max(self._closed_until, now + seconds)

    async def _enter(self, group: Hashable) -> None:
        """Waits for room. A place that becomes free is handed to who waited longest, of those whose group may have one."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((group, place))
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave(group)
            else:
                place.cancel()
            raise
        while (wait := self._closed_until - self.clock()) > 0:
            await asyncio.sleep(wait)

    def _leave(self, group: Hashable) -> None:
        self.in_flight -= 1
        self._of_group[group] -= 1
        if not self._of_group[group]:
            del self._of_group[group]
        self._wake()

    def _wake(self) -> None:
        kept: list[tuple[Hashable, asyncio.Future[None]]] = []
        while self._waiting and (self.in_flight < self.limit or self._of_others(None) < self._kept_for_others()):
            group, place = self._waiting.popleft()
            if place.done():
                continue  # who waited has left
            if not self._may_enter(group):
                kept.append((group, place))
            else:
                self.in_flight += 1
                self._of_group[group] += 1
                place.set_result(None)
        self._waiting.extendleft(reversed(kept))

    def _may_enter(self, group: Hashable) -> bool:
        """Tells whether a write of a group may begin.

        The limit may fall below what a group that hangs has in flight: that keeps nobody out.
        """
        if self.in_flight < self.limit:
            return group is None or self._of_group[group] < self.limit - self._kept_for_others()
        return group is not None and self._of_others(group) < self._kept_for_others()

    def _of_others(self, group: Hashable) -> int:
        """Returns how many writes are not of the group that has most of them; the limit where that is the group itself."""
        largest, count = max(self._of_group.items(), key=lambda one: one[1])
        return self.limit if largest == group else self.in_flight - count

    def _kept_for_others(self) -> int:
        return max(1, self.limit // 4) if self.limit > 1 else 0

    def _learn(self) -> None:
        """Counts an answer; after a round of as many answers as the limit, sees whether more or fewer pay."""
        count = self.throttled()
        if count > self._seen:
            self._seen = count
            return self.slow_down(0.0)
        if not self._waiting:  # not held back by the limit, so that the speed says nothing about it
            return self._new_round(self.clock())
        self._done += 1
        if self._done < self.limit:
            return None
        now = self.clock()
        self._adapt(self._done / max(now - self._round_began, 1e-9))
        return self._new_round(now)

    def _new_round(self, now: float) -> None:
        self._round_began, self._done = now, 0

    def _adapt(self, speed: float) -> None:
        """Sets the limit for the next round from the speed of this one, and tells when it is another."""
        before = self.limit
        self._judge(speed)
        if self.limit != before:
            self.sink(Adapted(self.limit, speed))

    def _judge(self, speed: float) -> None:
        if self._held:
            self._held -= 1
            if self._settled and speed < self._settled[1] / 2:
                self.limit, self._settled, self._held = max(self.least, min(self.limit, FEWEST), self.limit * 3 // 4), None, HOLD
            elif not self._held:
                self._try_more(speed)
        elif self._settled is None or self._has_paid(speed, *self._settled):
            self._try_more(speed)
        else:
            self.limit, self._held = self._settled[0], HOLD

    def _has_paid(self, speed: float, limit: int, before: float) -> bool:
        return speed >= before * (1 + PAYS * (self.limit / limit - 1))

    def _try_more(self, speed: float) -> None:
        self._settled = (self.limit, speed)
        more = min(self.most, self.limit + max(2, self.limit // 4))
        self.limit, self._held = more, HOLD if more == self.limit else 0
