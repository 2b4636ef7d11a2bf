"""Keeps a cluster as a function from snapshot to graph says, key by key, for as long as it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from applier.cache import WatchCache, as_one
from applier.desired import Gone, Graph, Hold
from applier.errors import ApplierError, Forbidden, NotFound, NotSynced, ServerFailure, TooManyRequests, Unreachable, WriteConflict
from applier.loop.interests import Interests
from applier.loop.lease import Lease
from applier.loop.queue import QueueClosed, WorkQueue
from applier.loop.view import View
from applier.outcome import Action, Outcome
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)
Desire = Callable[[View, K], Graph | Gone | Hold]
Reconcile = Callable[[K, Graph | Gone | Hold, View], Awaitable[Sequence[Outcome]]]
Keys = Callable[[Ref, Manifest | None, Manifest | None], Iterable[K]]


@dataclass(slots=True, eq=False)
class Result(Generic[K]):
    """What came of one look at a key: an outcome for each object that was not as it should be.

    `held` is why the key as a whole was left as it is, empty where it was not; `error` what was raised, where that is why.
    """

    key: K
    outcomes: Sequence[Outcome] = ()
    held: str = ""
    error: Exception | None = None


LONGEST_DOUBT = 5.0
"""Seconds between two looks at a key that is held for want of knowledge. What was asked for is mostly known a moment later, and nobody
tells when a watch that was broken is well again; the back-off of failures would by then have grown beyond that."""

LAST_MOMENT = 2.0
"""Seconds that requests in flight have to end once all the grace is over: a webhook may let them wait for much longer."""
LONGEST_OUTAGE = 30.0
"""Seconds between two looks at a key whose writes fail through no fault of its own. Nobody tells that a server which refused all writes for
an hour takes them again, and the back-off of failures would by then be a quarter of an hour. A try costs such a server one request."""

OnResult = Callable[[Result[K]], None]


def _no_keys(*_: object) -> Iterable[K]:
    """Derives no keys from objects: they come by `enqueue`."""
    return ()


def _unheard(*_: object) -> None:
    """Listens to nothing."""


class Loop(Generic[K]):
    """Calls `desired` for a key and `reconcile` with what it gives: whenever an object changes that the function asked for or that the
    graph holds, when `keys` derives the key from a changed object (what it gives first is looked at first), after a failure or a deletion,
    when the function asked for it, and on `enqueue`.

    `desired` is pure and quick: it sees one consistent state. It gives a graph; or `Gone` for a key that does not exist, which counts only
    if all that it has asked about is known for sure; or `Hold` for a key with which something is wrong. An exception is a hold, too, and
    the key is tried again, ever later: no error of one key changes anything of its objects, or keeps other keys waiting. One key is never
    worked on twice at once; `workers` keys are at a time. With a `lease` only its holder works; the others keep their caches warm.
    `reconcile` has to write through the lease's fence. `on_result` is told what came of each look. The loop starts and stops its cache.
    With `partial` it also runs where it lacks permission to read some of the kinds: keys that ask for these are held, and no others.
    """

    def __init__(
        self,
        cache: WatchCache,
        desired: Desire[K],
        reconcile: Reconcile[K],
        *,
        keys: Keys[K] = _no_keys,
        queue: WorkQueue[K] | None = None,
        lease: Lease | None = None,
        workers: int = 4,
        on_result: OnResult[K] = _unheard,
        partial: bool = False,
    ) -> None:
        self._partial = partial
        self.cache, self.queue, self.lease = cache, queue or WorkQueue[K](), lease
        self._desired, self._reconcile, self._keys, self._on_result = desired, reconcile, keys, on_result
        self._interests: Interests[K] = Interests()
        self._workers = workers
        self._stopping = asyncio.Event()
        self._grace = 0.0

    async def run(self) -> None:
        """Runs until `stop`; then ends within its grace period, or some seconds later where a server does not answer.

        Raises at once what keeps it from reading the cluster. Cancelling ends it without grace.
        """
        ended = self.cache.subscribe(self._changed), self.cache.subscribe_served(self.look_at_all)
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(self._stopping.wait(), name="stopping")]
        if self.lease:
            tasks.append(asyncio.create_task(self.lease.run(), name="lease"))
        try:
            await self.cache.start()
            synced = asyncio.create_task(self._first_lists(), name="first lists")
            tasks.append(synced)
            over, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if over == {synced}:
                synced.result()
                workers = [asyncio.create_task(self._work(), name=f"worker {number}") for number in range(self._workers)]
                tasks += workers
                over, _ = await asyncio.wait([task for task in tasks if task is not synced], return_when=asyncio.FIRST_COMPLETED)
                self.queue.close()
                await asyncio.wait(workers, timeout=self._grace)
            for task in over:
                task.result()  # a task that broke is a fault of ours, and not to be hidden
        finally:
            for end in ended:
                end()
            await _cancelled(tasks)
            if self.lease:
                await self.lease.release()
            await self.cache.stop()

    async def _first_lists(self) -> None:
        errors = await self.cache.settled()
        if errors and self._partial and len(errors) < len(self.cache.sources()) and all(isinstance(one, Forbidden) for one in errors):
            return
        if errors:
            raise as_one(errors)

    def stop(self, grace: float = 25.0) -> None:
        """Asks the loop to end: no key is begun any more, and those in work have `grace` seconds to end."""
        self._grace = grace
        self._stopping.set()

    def enqueue(self, key: K) -> None:
        """Lets a key be looked at soon."""
        self.queue.add(key)

    async def settled(self) -> None:
        """Returns as soon as no key waits or is in work. Keys that failed wait for their next try and do not count."""
        await self.queue.idle()

    def _changed(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        for key in dict.fromkeys((*self._keys(ref, old, new), *self._interests.of(ref, old, new))):
            self.queue.add(key)

    def look_at_all(self) -> None:
        """Lets all keys be looked at soon, as when a kind comes or goes, which any may have asked about."""
        for key in self._interests.all():
            self.queue.add(key)

    async def _work(self) -> None:
        with suppress(QueueClosed):
            while True:
                await self._leading()
                key = await self.queue.get()
                try:
                    await self._look_at(key)
                finally:
                    self.queue.done(key)
                # A look that needs no request never waits: thousands of keys that are held for what a watch has not told yet would
                # keep that very watch from being heard.
                await asyncio.sleep(0)

    async def _leading(self) -> None:
        """Returns once we lead, or are to stop."""
        if self.lease is None or self.lease.held.is_set():
            return
        waits = [asyncio.create_task(event.wait()) for event in (self.lease.held, self._stopping)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(waits)

    async def _look_at(self, key: K) -> None:
        """Brings one key to where it should be, and sees to it that it is looked at again when that is due."""
        if self.lease and not self.lease.held.is_set():
            return self.queue.add(key)  # for when we lead again
        view = View(self.cache, since=self.lease.led_since if self.lease else float("-inf"))
        requeue_after: float | None = None
        try:
            desired = self._desire(key, view)
            requeue_after = None if isinstance(desired, Gone) else desired.requeue_after
            outcomes = await self._bring(key, desired, view)
            result = Result(key, outcomes, desired.reason if isinstance(desired, Hold) else "")
        except Exception as error:  # of the function or of the server: one key's trouble must not end the others
            result = Result(key, held=_in_words(error), error=error)
        self._on_result(result)
        self._requeue(result)
        if requeue_after is not None:
            self.queue.add_after(key, requeue_after)
        return None

    def _requeue(self, result: Result[K]) -> None:
        """Sees to the next try of what did not go well. What was not known for sure mostly is a moment later: that is tried soon."""
        errors = [result.error, *(outcome.error for outcome in result.outcomes)]
        if any(isinstance(error, NotSynced) for error in errors):
            self.queue.retry(result.key, LONGEST_DOUBT)
        elif any(isinstance(error, Unreachable | ServerFailure | TooManyRequests) for error in errors):
            self.queue.retry(result.key, LONGEST_OUTAGE)
        elif result.error is not None or any(map(_is_to_be_tried_again, result.outcomes)):
            self.queue.retry(result.key)
        else:
            self.queue.forget(result.key)
            if any(outcome.action is Action.PRUNED for outcome in result.outcomes):
                # What was deleted lets go of what it rested on, which goes with the next look: behind the keys that wait already.
                self.queue.add(result.key)

    def _desire(self, key: K, view: View) -> Graph | Gone | Hold:
        """Returns what the function says.

        What it has asked about is noted before anything is awaited, so that no change is missed, and so is
        what of that is in doubt: a word that comes a moment later tells nothing of what was worked out by then."""
        desired: Graph | Gone | Hold = Gone()
        try:
            desired = self._desired(view, key)
            if not isinstance(desired, Graph | Gone | Hold):
                raise TypeError(f"a graph, Gone() or Hold(reason) is wanted of a function, and not {desired!r}")
            doubts = view.doubts()
            if doubts and isinstance(desired, Gone):
                view.ask()
                raise NotSynced(f"it is not known whether it is gone: {doubts[0]}")
        finally:
            self._interests.replace(key, view, desired.objects if isinstance(desired, Graph) else ())
        return desired

    async def _bring(self, key: K, desired: Graph | Gone | Hold, view: View) -> Sequence[Outcome]:
        if isinstance(desired, Gone):
            self._interests.drop(key)
            return await self._reconcile(key, desired, view)
        questions = view.read.count()
        try:
            return await self._reconcile(key, desired, view)
        finally:
            if view.read.count() > questions:  # with what planning and members asked for
                self._interests.replace(key, view, desired.objects if isinstance(desired, Graph) else ())


def _is_to_be_tried_again(outcome: Outcome) -> bool:
    """Tells whether trying again may help: after a failure, and when an object was not what the cache had shown."""
    return outcome.action is Action.FAILED or isinstance(outcome.error, WriteConflict | NotFound)


def _in_words(error: Exception) -> str:
    """Returns what went wrong, in one line; a fault of ours with its type, as its text alone may say little."""
    return str(error) if isinstance(error, ApplierError) else f"{type(error).__name__}: {error}"


async def _cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Ends tasks. What finishes what it has begun when it is cancelled once, as `execute` does, is cancelled again after a moment."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=LAST_MOMENT)
    await asyncio.gather(*tasks, return_exceptions=True)
