"""Keeps a cluster at the state that a function from snapshot to graph returns, key by key."""

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
    """The result of reconciling a key: an outcome for each object that was not in its desired state.

    `held` is why the key as a whole was left unchanged, empty where it was not; `error` is the exception that caused it.
    """

    key: K
    outcomes: Sequence[Outcome] = ()
    held: str = ""
    error: Exception | None = None


LONGEST_DOUBT = 5.0
"""The longest back-off, in seconds, of a key that is held because the cache is not synced. It mostly is a moment later, and there is no
notification when a broken watch recovers."""

LAST_MOMENT = 2.0
"""Seconds for requests in flight after the grace period is over: a webhook could delay them for much longer."""
LONGEST_OUTAGE = 30.0
"""The longest back-off, in seconds, of a key whose writes fail because of the server. There is no notification when a server that was down
for an hour works again, and the usual back-off would have grown to a quarter of an hour. A try costs such a server one request."""

OnResult = Callable[[Result[K]], None]


def _no_keys(*_: object) -> Iterable[K]:
    """Derives no keys from objects; they are added with `enqueue`."""
    return ()


def _unheard(*_: object) -> None:
    """Ignores results."""


class Loop(Generic[K]):
    """Reconciles keys: calls `desired` for a key, and `reconcile` with the result.

    A key is enqueued whenever an object changes that its function has read or that its graph holds, when `keys` derives it from a changed
    object (in that order), after a failure or a deletion, when the function requests it, and by `enqueue`.

    `desired` is pure and fast: it sees one consistent state. It returns a graph; or `Gone` for a key that does not exist, which counts only
    if everything it has read is certain; or `Hold` for a key with an error. An exception is a hold, too, and the key is retried with
    back-off: an error of one key neither changes its objects nor delays other keys. One key is never reconciled twice at once; `workers`
    keys are at a time. With a `lease` only its holder works; the others keep their caches warm. `reconcile` has to write through the
    lease's fence. `on_result` gets the result of each reconcile. The loop starts and stops its cache. With `partial` it also runs without
    permission to read some of the kinds: only keys that read these are held.
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
        """Runs until `stop`; then ends within its grace period, or a few seconds later where a server does not answer.

        Raises at once the error that keeps it from reading the cluster. Cancelling ends it without grace.
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
                task.result()  # raises the exception of a task that failed, which is a bug of ours
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
        """Asks the loop to end: no further key is started, and those being reconciled have `grace` seconds to finish."""
        self._grace = grace
        self._stopping.set()

    def enqueue(self, key: K) -> None:
        """Adds a key to the queue."""
        self.queue.add(key)

    async def settled(self) -> None:
        """Returns as soon as no key waits or is being reconciled. Failed keys that wait for their retry do not count."""
        await self.queue.idle()

    def _changed(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        for key in dict.fromkeys((*self._keys(ref, old, new), *self._interests.of(ref, old, new))):
            self.queue.add(key)

    def look_at_all(self) -> None:
        """Enqueues all keys, as when a kind becomes served or unserved, which any of them may have read."""
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
                # A reconcile without a request never yields to the event loop: thousands of keys that are held for a watch event would
                # keep that very watch from being read.
                await asyncio.sleep(0)

    async def _leading(self) -> None:
        """Returns once we lead, or the loop is stopping."""
        if self.lease is None or self.lease.held.is_set():
            return
        waits = [asyncio.create_task(event.wait()) for event in (self.lease.held, self._stopping)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(waits)

    async def _look_at(self, key: K) -> None:
        """Reconciles one key, and requeues it when that is due."""
        if self.lease and not self.lease.held.is_set():
            return self.queue.add(key)  # for when we lead again
        view = View(self.cache, since=self.lease.led_since if self.lease else float("-inf"))
        requeue_after: float | None = None
        try:
            desired = self._desire(key, view)
            requeue_after = None if isinstance(desired, Gone) else desired.requeue_after
            outcomes = await self._bring(key, desired, view)
            result = Result(key, outcomes, desired.reason if isinstance(desired, Hold) else "")
        except Exception as error:  # of the function or of the server: an error of one key must not end the others
            result = Result(key, held=_in_words(error), error=error)
        self._on_result(result)
        self._requeue(result)
        if requeue_after is not None:
            self.queue.add_after(key, requeue_after)
        return None

    def _requeue(self, result: Result[K]) -> None:
        """Requeues a key that failed, with a back-off that depends on the error; resets the back-off of one that succeeded."""
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
                # The next reconcile deletes what the deleted objects depended on: behind the keys that wait already.
                self.queue.add(result.key)

    def _desire(self, key: K, view: View) -> Graph | Gone | Hold:
        """Calls the function, and records its interests.

        They are recorded before anything is awaited, so that no change is missed, and so are doubts: a later event does not make what was
        computed from the state before any more certain.
        """
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
    """Tells whether a retry may help: after a failure, and when an object was not as the cache had shown it."""
    return outcome.action is Action.FAILED or isinstance(outcome.error, WriteConflict | NotFound)


def _in_words(error: Exception) -> str:
    """Returns an error in one line; an unexpected exception with its type, because its text alone may not be clear."""
    return str(error) if isinstance(error, ApplierError) else f"{type(error).__name__}: {error}"


async def _cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancels tasks and waits for them. One that first finishes its requests, as `execute` does, is cancelled again after a moment."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=LAST_MOMENT)
    await asyncio.gather(*tasks, return_exceptions=True)
