"""Implements a work queue like client-go's: no duplicate keys, no key at two workers at once, delayed retries; fair to groups of keys."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


NO_GROUP = object()
MAX_CLEANUP_DELAY = 5.0
"""Seconds for which the other keys of its group go before a cleanup."""


class QueueClosed(Exception):
    """Reports that the queue is closed, so that no key will come."""


def _ignore(seconds: float) -> None:
    """Ignores durations."""


class WorkQueue(Generic[K]):
    """Queues keys by group, first in, first out; groups take turns, so that none starves behind a long one.

    `pace` returns the least seconds between two reconciles of a key, for keys that sum up frequent changes. At most `share` keys of a group
    are being worked on at once, so that slow requests of one group do not delay the others. A failed key waits `first` seconds before its
    retry, twice as long after each failure, at most `longest`: client-go's numbers. `on_wait` and `on_work` get the seconds that each key
    waited and was worked on. Time is the event loop's.

    Cleanups are work that nobody waits for. One key of a group at a time gets a turn for it, which leaves the capacity of the server to the
    rest; groups do not wait for each other's cleanups, of which one may hang.
    """

    def __init__(
        self,
        *,
        group: Callable[[K], Hashable] = lambda _: None,
        pace: Callable[[K], float] = lambda _: 0.0,
        share: float = float("inf"),
        first: float = 0.005,
        longest: float = 1000.0,
        on_wait: Callable[[float], None] = _ignore,
        on_work: Callable[[float], None] = _ignore,
    ) -> None:
        self.ended = 0  # how often the work on a key has ended
        self._group, self._pace, self._first, self._longest = group, pace, first, longest
        self._on_wait, self._on_work = on_wait, on_work
        self._share = share
        self._busy: Counter[Hashable] = Counter()  # keys in work by group
        self._not_before: dict[K, float] = {}  # keys with a pace or at rest, and the earliest time of their next reconcile
        self._rests: dict[K, float] = {}  # keys in work that are to rest afterwards, and for how long
        self._waiting: OrderedDict[Hashable, dict[K, float]] = OrderedDict()  # by group: keys, and since when
        self._active: dict[K, float] = {}  # keys in work, and since when
        self._cleanups: OrderedDict[Hashable, dict[K, float]] = OrderedDict()  # by group: keys that wait for their cleanup, and since when
        self._cleaning: dict[Hashable, K] = {}  # by group: the key whose cleanup is in work
        self._again: dict[K, float] = {}  # keys in work that were added meanwhile, and since when
        self._failures: dict[K, int] = {}
        self._due: dict[K, float] = {}  # keys that are added later, and when
        self._alarms: list[tuple[float, int, K]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._numbered = 0
        self._closed = False
        self._changed = asyncio.Event()  # for whoever waits until there is nothing to do
        self._workers: deque[asyncio.Future[None]] = deque()  # those that wait for a key

    def add(self, key: K) -> None:
        """Adds a key. One that waits already keeps its place; one that is being worked on is queued again afterwards."""
        if self._closed:
            return
        if (earliest := self._not_before.get(key)) is not None:
            if (delay := earliest - self._now()) > 0:
                self.add_after(key, delay)
                return
            del self._not_before[key]
        self._due.pop(key, None)
        waiting = self._again if key in self._active else self._waiting.setdefault(self._group(key), {})
        if key not in waiting:
            waiting[key] = self._now()
            self._wake()

    def rest(self, key: K, seconds: float) -> None:
        """Makes a key that is being worked on wait so long for its next reconcile, whatever adds it meanwhile."""
        self._rests[key] = seconds

    def add_cleanup(self, key: K) -> None:
        """Adds a key for its cleanup, after those of the keys that wait for theirs already."""
        if not self._closed:
            self._cleanups.setdefault(self._group(key), {}).setdefault(key, self._now())
            self._wake()
            asyncio.get_running_loop().call_later(MAX_CLEANUP_DELAY, self._wake)  # it may begin then, whatever else waits

    def awaits_cleanup(self, key: K) -> bool:
        """Reports whether a key waits for the turn of its cleanup."""
        return key in self._cleanups.get(self._group(key), ())

    def is_added_again(self, key: K) -> bool:
        """Reports whether a key that is being worked on has been added meanwhile."""
        return key in self._again

    def add_after(self, key: K, seconds: float) -> None:
        """Adds a key after some seconds. Of several times the earliest counts; adding it before then replaces all of them."""
        when = self._now() + seconds
        if self._closed or self._due.get(key, float("inf")) <= when:
            return
        self._due[key] = when
        self._numbered += 1
        heapq.heappush(self._alarms, (when, self._numbered, key))
        self._set_timer()

    def retry(self, key: K, longest: float = float("inf"), *, least: float = 0.0) -> float:
        """Adds a key after its back-off, `longest` seconds at most and `least` in any case; returns the seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        wait = max(least, min(longest, self._longest, self._first * 2.0 ** min(failures, 64)))
        self.add_after(key, wait)
        return wait

    def forget(self, key: K) -> None:
        """Resets the back-off of a key after a success."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        """Returns the next key, which counts as being worked on until `done`. Raises `QueueClosed` once the queue is closed."""
        while (cleanup := self._next_cleanup()) is NO_GROUP and (group := self._next_group()) is NO_GROUP:
            if self._closed:
                raise QueueClosed
            await self._woken()
        if cleanup is NO_GROUP:
            key, since = _pop_first(self._waiting, group)
            self._busy[group] += 1
        else:
            key, since = _pop_first(self._cleanups, cleanup)
            self._cleaning[cleanup] = key
            if key in (waiting := self._waiting.get(cleanup, {})):  # one turn serves both
                del waiting[key]
                if not waiting:
                    del self._waiting[cleanup]
        taken = self._take(key, since)
        if self._workers and not (self._next_cleanup() is NO_GROUP and self._next_group() is NO_GROUP):
            self._wake()  # to have taken this one may have made another one's turn come
        return taken

    async def _woken(self) -> None:
        """Returns when there may be a key to take. One worker is woken for each: to wake all would cost more than most keys do."""
        woken = asyncio.get_running_loop().create_future()
        self._workers.append(woken)
        try:
            await woken
        except asyncio.CancelledError:
            if not woken.cancelled():
                self._wake()  # the next one, in this one's place
            raise

    def _wake(self) -> None:
        self._changed.set()
        while self._workers:
            woken = self._workers.popleft()
            if not woken.done():  # as that of a worker is that was cancelled
                woken.set_result(None)
                return

    def _next_group(self) -> Hashable:
        """Returns the next group that is below its share; `NO_GROUP` if there is none."""
        return next((group for group in self._waiting if self._busy[group] < self._share), NO_GROUP)

    def _next_cleanup(self) -> Hashable:
        """Returns the next group whose cleanup may begin: nothing else of it waits, or the cleanup has waited for long."""
        late = self._now() - MAX_CLEANUP_DELAY
        for group, keys in self._cleanups.items():
            first, since = next(iter(keys.items()))
            if group not in self._cleaning and first not in self._active and (group not in self._waiting or since <= late):
                return group
        return NO_GROUP

    def done(self, key: K) -> None:
        """Ends the work on a key, successful or not."""
        group = self._group(key)
        if group in self._cleaning and self._cleaning[group] == key:
            del self._cleaning[group]
        else:
            self._busy[group] -= 1
            if not self._busy[group]:
                del self._busy[group]
        self.ended += 1
        self._on_work(self._now() - self._active.pop(key))
        since = self._again.pop(key, None)
        if pace := max(self._pace(key), self._rests.pop(key, 0.0)):
            self._drop_past()
            self._not_before.pop(key, None)
            self._not_before[key] = self._now() + pace
            if since is not None:
                self.add_after(key, pace)
        elif since is not None:
            self._waiting.setdefault(group, {})[key] = since
        self._wake()

    def close(self) -> None:
        """Closes the queue: drops waiting keys, and accepts no more."""
        self._closed = True
        self._due.clear()
        self._alarms.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()
        self._cleanups.clear()
        self._again.clear()
        self._changed.set()
        while self._workers:
            self._wake()

    async def idle(self) -> None:
        """Returns as soon as no key waits or is being worked on. Delayed keys do not count."""
        while self._waiting or self._cleanups or self._active:
            self._changed.clear()
            await self._changed.wait()

    def depth(self) -> int:
        """Returns how many keys wait."""
        return sum(map(len, (*self._waiting.values(), *self._cleanups.values(), self._again)))

    def active(self) -> int:
        """Returns how many keys are being worked on."""
        return len(self._active)

    def delayed(self) -> int:
        """Returns how many keys are delayed."""
        return len(self._due)

    def oldest(self) -> float:
        """Returns the waiting time of the key that has waited longest, in seconds."""
        since = [when for keys in (*self._waiting.values(), *self._cleanups.values(), self._again) for when in keys.values()]
        return self._now() - min(since) if since else 0.0

    def _take(self, key: K, since: float) -> K:
        now = self._now()
        self._active[key] = now
        self._on_wait(now - since)
        return key

    def _drop_past(self) -> None:
        """Drops earliest times that have passed, so that keys that never return are not kept.

        The oldest come first; those behind a key that rests for longer are kept until it has.
        """
        now = self._now()
        while self._not_before and self._not_before[first := next(iter(self._not_before))] <= now:
            del self._not_before[first]

    def _set_timer(self) -> None:
        """Sets the one timer, for the earliest alarm."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._alarms:
            self._timer = asyncio.get_running_loop().call_at(self._alarms[0][0], self._ring)

    def _ring(self) -> None:
        now = self._now()
        while self._alarms and self._alarms[0][0] <= now:
            when, _, key = heapq.heappop(self._alarms)
            if self._due.get(key) == when:
                del self._due[key]  # before `add`, which may delay the key again: `add_after` keeps the earlier of two times
                self.add(key)
        self._set_timer()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _pop_first(queues: OrderedDict[Hashable, dict[K, float]], group: Hashable) -> tuple[K, float]:
    """Removes the first key of a group, and lets the next group have its turn. Returns the key, and since when it has waited."""
    keys = queues[group]
    key = next(iter(keys))
    since = keys.pop(key)
    if keys:
        queues.move_to_end(group)
    else:
        del queues[group]
    return key, since
