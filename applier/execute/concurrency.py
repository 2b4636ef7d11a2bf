"""Limits the writes in flight, and adapts the limit to the throughput of the server.

The limit rises as long as that raises throughput. A server that waits for something, such as a webhook, has a higher throughput with more
requests in flight; a saturated one only answers later, and the limit returns to its last good value for a while. If throughput collapses,
the limit falls. If the server throttles us (429), it is halved, and no write begins before the time that the server named.

A write that takes far longer than others hangs, mostly in a webhook, and is no load for the server: it gives its slot back.
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

MIN_GAIN = 0.3
"""The relative gain in throughput, per relative increase of the limit, above which a higher limit is worth it."""

HOLD_ROUNDS = 8
"""Rounds for which the limit stays after an increase did not help. A round is as many answers as the limit."""

HANGING, HANGING_RATIO = 1.0, 8
"""A write that has been in flight for so many seconds, and so many times as long as writes take on average, hangs: it does not count
towards the limit, unless more than `most` do. On an overloaded server all writes take long, and none hangs."""

LATENCY_FLOOR = 4
"""The limit below which late answers do not lower it further: a write that waits for a webhook is no sign of an overloaded server, and some
slots are reserved for other groups. Only throttling (429) does."""


def _clock() -> float:
    """Returns the event loop's time, by which `sleep` waits also in virtual time; that of the machine outside of a loop."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


class Concurrency:
    """Limits writes in flight to a number between `least` and `most` that starts at `start`.

    Writes may belong to a group: a quarter of the limit is reserved for writes outside the largest group, so that a group whose writes all
    hang, for instance in a webhook, delays no others until the slots of these writes are given back. `throttled` returns how many requests
    the server has throttled so far: the transport retries those by itself, so that they raise no error here.
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
        self._began: dict[asyncio.Future[None], float] = {}  # slots in use and since when, the oldest first
        self._hanging: set[asyncio.Future[None]] = set()  # slots of writes that hang
        self._latency: float | None = None  # how long writes take on average, in seconds; None before the first answer
        self._timer: asyncio.TimerHandle | None = None
        self._of_group: Counter[Hashable] = Counter()
        self._waiting: deque[tuple[Hashable, asyncio.Future[None]]] = deque()
        self._throttled_before = throttled()
        self._closed_until = float("-inf")
        self._round_began, self._done, self._hold = clock(), 0, 0
        self._best: tuple[int, float] | None = None  # the last limit that was worthwhile, and its throughput in writes per second

    def __repr__(self) -> str:
        return f"<Concurrency {self.in_flight} of {self.limit} in flight, {len(self._waiting)} waiting>"

    async def run(self, call: Callable[[], Awaitable[T]], group: Hashable = None) -> T:
        """Makes one request once a slot is free, and adapts the limit to its outcome."""
        slot = await self._enter(group)
        try:
            began = self.clock()
            result = await call()
        except TooManyRequests as error:
            self.slow_down(error.retry_after or 1.0)
            raise
        else:
            self._note_latency(self.clock() - began)
            self._note_answer()
            return result
        finally:
            self._leave(group, slot)

    def slow_down(self, seconds: float) -> None:
        """Halves the limit, once for all requests that were in flight together, and begins no write for so many seconds."""
        now = self.clock()
        if now >= self._closed_until:
            self.limit = max(self.least, self.limit // 2)
            self._best = None
            self._new_round(now)
            self.sink(Throttled(seconds, self.limit))
        self._closed_until = max(self._closed_until, now + seconds)

    async def _enter(self, group: Hashable) -> asyncio.Future[None]:
        """Waits for a slot. A free slot goes to the longest waiting write whose group may have one."""
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((group, slot))
        self._wake()
        try:
            await slot
            while (wait := self._closed_until - self.clock()) > 0:
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._leave(group, slot)
            else:
                slot.cancel()
            raise
        self._began[slot] = self.clock()  # only now, since a pause of the server is no hanging
        self._set_timer()
        return slot

    def _leave(self, group: Hashable, slot: asyncio.Future[None]) -> None:
        self.in_flight -= 1
        self._began.pop(slot, None)
        self._hanging.discard(slot)
        self._of_group[group] -= 1
        if not self._of_group[group]:
            del self._of_group[group]
        self._wake()

    def _wake(self) -> None:
        """Lets waiting writes begin that may, in their order."""
        self._release_hanging()
        blocked: list[tuple[Hashable, asyncio.Future[None]]] = []
        while self._waiting and (self._load() < self.limit or self._outside_largest(None) < self._reserved()):
            group, slot = self._waiting.popleft()
            if slot.done():
                continue  # cancelled
            if not self._may_enter(group):
                blocked.append((group, slot))
            else:
                self.in_flight += 1
                self._of_group[group] += 1
                slot.set_result(None)
        self._waiting.extendleft(reversed(blocked))
        self._set_timer()

    def _load(self) -> int:
        """Returns how many writes in flight count towards the limit."""
        return self.in_flight - len(self._hanging)

    def _release_hanging(self) -> None:
        """Gives back the slots of writes that hang."""
        now = self.clock()
        while (hangs_at := self._next_hanging()) is not None and hangs_at <= now:
            slot = next(iter(self._began))
            del self._began[slot]
            self._hanging.add(slot)

    def _next_hanging(self) -> float | None:
        """Returns when the oldest write in flight hangs; None if there is none, if too many hang, or before the first answer."""
        if not self._began or self._latency is None or len(self._hanging) >= self.most:
            return None
        return next(iter(self._began.values())) + max(HANGING, HANGING_RATIO * self._latency)

    def _set_timer(self) -> None:
        """Wakes waiting writes when the oldest write in flight begins to hang: no answer may come before then."""
        if self._waiting and self._timer is None and (hangs_at := self._next_hanging()) is not None:
            self._timer = asyncio.get_running_loop().call_later(hangs_at - self.clock(), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wake()

    def _may_enter(self, group: Hashable) -> bool:
        """Reports whether a write of a group may begin.

        The reserved slots stay open to other groups even when the limit has fallen below what a hanging group has in flight.
        """
        if self._load() < self.limit:
            return group is None or self._of_group[group] < self.limit - self._reserved()
        return group is not None and self._outside_largest(group) < self._reserved()

    def _outside_largest(self, group: Hashable) -> int:
        """Returns how many writes in flight are not of the largest group; the limit if that is `group` itself."""
        largest, count = max(self._of_group.items(), key=lambda item: item[1])
        return self.limit if largest == group else self.in_flight - count

    def _reserved(self) -> int:
        """Returns how many slots are reserved for writes outside the largest group."""
        return max(1, self.limit // 4) if self.limit > 1 else 0

    def _note_latency(self, seconds: float) -> None:
        """Updates the average. A write that hung and succeeded after all counts no more than one that is just about to hang."""
        latency = seconds if self._latency is None else self._latency
        self._latency = latency + (min(seconds, max(HANGING, 2 * latency)) - latency) / 10

    def _note_answer(self) -> None:
        """Counts an answer; adapts the limit after a round, which is as many answers as the limit."""
        count = self.throttled()
        if count > self._throttled_before:
            self._throttled_before = count
            return self.slow_down(0.0)
        if not self._waiting:  # the limit was not reached, so that the throughput says nothing about it
            return self._new_round(self.clock())
        self._done += 1
        if self._done < self.limit:
            return None
        now = self.clock()
        self._adapt(self._done / max(now - self._round_began, 1e-9))
        return self._new_round(now)

    def _new_round(self, now: float) -> None:
        self._round_began, self._done = now, 0

    def _adapt(self, throughput: float) -> None:
        """Sets the limit for the next round from the throughput of this one, and emits an event if it changes."""
        before = self.limit
        self._set_limit(throughput)
        if self.limit != before:
            self.sink(Adapted(self.limit, throughput))

    def _set_limit(self, throughput: float) -> None:
        if self._hold:
            self._hold -= 1
            if self._best and throughput < self._best[1] / 2:
                lower = max(self.least, min(self.limit, LATENCY_FLOOR), self.limit * 3 // 4)
                self.limit, self._best, self._hold = lower, None, HOLD_ROUNDS
            elif not self._hold:
                self._increase(throughput)
        elif self._best is None or self._is_worthwhile(throughput, *self._best):
            self._increase(throughput)
        else:
            self.limit, self._hold = self._best[0], HOLD_ROUNDS

    def _is_worthwhile(self, throughput: float, limit: int, before: float) -> bool:
        return throughput >= before * (1 + MIN_GAIN * (self.limit / limit - 1))

    def _increase(self, throughput: float) -> None:
        self._best = (self.limit, throughput)
        more = min(self.most, self.limit + max(2, self.limit // 4))
        self.limit, self._hold = more, HOLD_ROUNDS if more == self.limit else 0
