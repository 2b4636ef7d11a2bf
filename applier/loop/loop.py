"""Keeps a cluster at the state that a function from snapshot to graph returns, key by key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from applier.cache import WatchCache, as_one
from applier.desired import Gone, Graph, Hold
from applier.errors import (
    ApiError,
    ApplierError,
    NotFound,
    NotSynced,
    ServerFailure,
    TooManyRequests,
    UnknownKind,
    Unreachable,
    WriteConflict,
)
from applier.loop.contests import Contests
from applier.loop.dependencies import Dependencies
from applier.loop.lease import Lease
from applier.loop.lease_thread import LeaseThread
from applier.loop.queue import QueueClosed, WorkQueue
from applier.loop.view import MAX_DECISION_AGE, View
from applier.outcome import Action, Obstacle, Outcome
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)
Desire = Callable[[View, K], Graph | Gone | Hold | Awaitable[Graph | Gone | Hold]]
Reconcile = Callable[[K, Graph | Gone | Hold, View], Awaitable[Sequence[Outcome]]]
Keys = Callable[[Ref, Manifest | None, Manifest | None], Iterable[K]]


@dataclass(slots=True, eq=False)
class Result(Generic[K]):
    """Represents the result of reconciling a key: an outcome for each object that was not in its desired state.

    `held` is why the key as a whole was left unchanged, empty if it was not; `error` is the exception that caused it. `kept` is why none
    of its objects was deleted for being no longer desired, empty if they were. `contested` are objects that somebody has changed after each
    of several writes, and that are written less and less often; `recreated` are those, each with its owner, of which the same was created
    several times in a row by other names.
    """

    key: K
    outcomes: Sequence[Outcome] = ()
    held: str = ""
    error: Exception | None = None
    contested: Sequence[Ref] = ()
    recreated: Mapping[Ref, Ref | None] = field(default_factory=dict)
    kept: str = ""


MAX_BACKOFF_UNSYNCED = 5.0
"""The longest back-off, in seconds, of a key that is held because the cache is not synced. It mostly is a moment later, of which the cache
notifies; kinds that were never watched, or lack permission, may need a retry."""

CANCEL_TIMEOUT = 2.0
"""Seconds for requests in flight after the grace period is over: a webhook could delay them for much longer."""

MAX_BACKOFF_OUTAGE = 30.0
"""The longest back-off, in seconds, of a key whose writes fail because of the server. An interrupted watch tells when the server can be
reached again; nothing tells when it works again, and the usual back-off would have grown to a quarter of an hour. A try costs such a server
one request."""

MAX_BACKOFF_FOREIGN = 5.0
"""The longest back-off, in seconds, of a key one of whose names an object has that is somebody else's and that no watch selects, and thus
none shows that it is gone. A try costs one read."""

MAX_BACKOFF_BLOCKED = 30.0
"""The longest back-off, in seconds, of a key one of whose objects finalizers keep from going, or in one of whose an admission webhook sets
other values: no watch event shows when it ceases to. A try costs nothing; the write of such an object has a back-off of its own."""

PORTION = 1_000
"""Objects of a graph that are freed at once, in about a millisecond."""

OnResult = Callable[[Result[K]], None]


def _no_keys(*_: object) -> Iterable[K]:
    """Derives no keys from objects; they are added with `enqueue`."""
    return ()


def _ignore(*_: object) -> None:
    """Ignores results."""


class Loop(Generic[K]):
    """Reconciles keys: calls `desired` for a key, and `reconcile` with the result.

    A key is enqueued whenever an object changes that its function has read or that its graph holds, when `keys` derives it from a changed
    object (in that order), after a failure or a deletion, when the function requests it, and by `enqueue`.

    `desired` is pure and fast: it sees one consistent state. It returns a graph; or `Gone` for a key that does not exist, which counts only
    if nothing that it has read may be stale; or `Hold` for a key with an error. An exception is a hold, too, and the key is retried with
    back-off: an error of one key neither changes its objects nor delays other keys. A key is never reconciled concurrently with itself; up
    to `workers` keys are reconciled at a time. With a `lease` only its holder reconciles; the others keep their caches warm. `reconcile`
    has to write through the lease's fence. `on_result` is called with the result of each reconcile, `on_begin` once, when
    the lists are read and before the first reconcile. The loop starts and stops its cache.
    With `partial` it also runs without some of the kinds, which it may not read or whose lists fail: only keys that read these are held.

    For keys that `is_large` it may be a coroutine function that waits, as for another thread: their view is frozen, so that it stays as it
    was when that began, and what changes meanwhile counts as a change after it. For others it must not wait.
    """

    def __init__(
        self,
        cache: WatchCache,
        desired: Desire[K],
        reconcile: Reconcile[K],
        *,
        keys: Keys[K] = _no_keys,
        queue: WorkQueue[K] | None = None,
        lease: Lease | LeaseThread | None = None,
        workers: int = 4,
        on_result: OnResult[K] = _ignore,
        on_begin: Callable[[], None] = _ignore,
        partial: bool = False,
        is_large: Callable[[View, K], bool] = lambda *_: False,
    ) -> None:
        self._partial = partial
        self.cache, self.queue, self.lease = cache, queue or WorkQueue[K](), lease
        self._desired, self._reconcile, self._keys, self._on_result = desired, reconcile, keys, on_result
        self._dependencies: Dependencies[K] = Dependencies()
        self._until_current: dict[K, None] = {}  # keys that failed because a kind was stale, or the server unreachable
        self._contests = Contests[K]()
        self._workers, self._on_begin, self._is_large = workers, on_begin, is_large
        self.has_begun = False  # the lists are read, or those that can be
        self._stopping = asyncio.Event()
        self._grace = 0.0

    async def run(self) -> None:
        """Runs until `stop`; then ends within its grace period, or a few seconds later if a server does not answer.

        Raises at once the error that keeps it from reading the cluster. Cancelling ends it without a grace period.
        """
        unsubscribe = (
            self.cache.subscribe(self._changed),
            self.cache.subscribe_served(self.enqueue_all),
            self.cache.subscribe_current(self._retry_early),
        )
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(self._stopping.wait(), name="stopping")]
        if self.lease:
            tasks.append(asyncio.create_task(self.lease.run(), name="lease"))
        try:
            await self.cache.start()
            synced = asyncio.create_task(self._first_lists(), name="initial lists")
            tasks.append(synced)
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if ended == {synced}:
                synced.result()
                self._on_begin()
                self.has_begun = True
                workers = [asyncio.create_task(self._work(), name=f"worker {number}") for number in range(self._workers)]
                tasks += workers
                ended, _ = await asyncio.wait([task for task in tasks if task is not synced], return_when=asyncio.FIRST_COMPLETED)
                self.queue.close()
                await asyncio.wait(workers, timeout=self._grace)
            for task in ended:
                task.result()  # raises the exception of a task that failed, which is a bug of ours
        finally:
            for callback in unsubscribe:
                callback()
            await _cancel_all(tasks)
            if self.lease:
                await self.lease.release()
            await self.cache.stop()

    async def _first_lists(self) -> None:
        if self._partial:
            await self.cache.usable()
        elif errors := await self.cache.settled():
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
        for key in dict.fromkeys((*self._keys(ref, old, new), *self._dependencies.of(ref, old, new))):
            self.queue.add(key)

    def enqueue_all(self) -> None:
        """Enqueues all keys, as when a kind becomes served or unserved, which any of them may have read."""
        for key in self._dependencies.all():
            self.queue.add(key)

    def _retry_early(self) -> None:
        """Enqueues the keys that failed for a reason which may be over; their back-off may have grown to half a minute."""
        keys, self._until_current = self._until_current, {}
        for key in keys:
            self.queue.add(key)

    async def _work(self) -> None:
        with suppress(QueueClosed):
            while True:
                await self._wait_for_lease()
                key = await self.queue.get()
                try:
                    await self._process(key)
                finally:
                    self.queue.done(key)
                # A reconcile without a request never yields to the event loop: thousands of keys that are held for a watch event would
                # keep that very watch from being read.
                await asyncio.sleep(0)

    async def _wait_for_lease(self) -> None:
        """Returns once we lead, or the loop is stopping."""
        if self.lease is None or self.lease.held.is_set():
            return
        waits = [asyncio.create_task(event.wait()) for event in (self.lease.held, self._stopping)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel_all(waits)

    async def _process(self, key: K) -> None:
        """Reconciles one key, and requeues it as its result requires."""
        if self.lease and not self.lease.held.is_set():
            return self.queue.add(key)  # for when we lead again
        view = View(self.cache, since=self.lease.led_since if self.lease else float("-inf"))
        desired: Graph | Gone | Hold = Hold("")
        requeue_after: float | None = None
        try:
            desired = await self._desire(key, view)
            if isinstance(desired, Gone) and self.queue.awaits_cleanup(key):
                return self._dependencies.drop(key)
            requeue_after = None if isinstance(desired, Gone) else desired.requeue_after
            outcomes = await self._reconcile_desired(key, desired, view)
            objects, kept = (desired.objects, desired.keep) if isinstance(desired, Graph) else ({}, "")
            contested = self._contests.observe(key, outcomes, asyncio.get_running_loop().time(), objects)
            if contested.rest:
                self.queue.rest(key, contested.rest)
            reason = desired.reason if isinstance(desired, Hold) else ""
            result = Result(key, outcomes, reason, contested=contested.written, recreated=contested.created, kept=kept)
        except Exception as error:  # of the function or of the server: an error of one key must not end the others
            result = Result(key, held=_message(error), error=error)
        self._on_result(result)
        self._requeue(result, desired)
        if requeue_after is not None:
            self.queue.add_after(key, requeue_after)
        if isinstance(desired, Graph) and len(desired.objects) > PORTION:
            await _free(desired)
        return None

    def _requeue(self, result: Result[K], desired: Graph | Gone | Hold) -> None:
        """Requeues a key that failed, with a back-off that depends on the error; resets the back-off of one that succeeded."""
        if rests := [outcome.retry_after for outcome in result.outcomes if outcome.retry_after]:
            self.queue.add_after(result.key, min(rests))
        errors = [result.error, *(outcome.error for outcome in result.outcomes)]
        is_unread = any(outcome.step.obstacle is Obstacle.UNREAD for outcome in result.outcomes)
        if is_unread or any(isinstance(error, NotSynced | Unreachable | UnknownKind) for error in errors):
            self._until_current[result.key] = None
        if any(isinstance(error, NotSynced) for error in errors):
            self.queue.retry(result.key, MAX_BACKOFF_UNSYNCED)
        elif any(isinstance(error, Unreachable | ServerFailure | TooManyRequests | UnknownKind) for error in errors):
            self.queue.retry(result.key, MAX_BACKOFF_OUTAGE, least=_asked_for(errors))
        elif any(each.step.is_foreign and not self.cache.selects(each.step.ref) for each in result.outcomes):
            self.queue.retry(result.key, MAX_BACKOFF_FOREIGN)
        elif result.error is not None or any(map(_may_succeed_on_retry, result.outcomes)):
            self.queue.retry(result.key, least=_asked_for(errors))  # a webhook that denies for now is not in the server's trouble
        elif any(outcome.is_overridden or outcome.is_blocked for outcome in result.outcomes):
            self.queue.retry(result.key, MAX_BACKOFF_BLOCKED)
        else:
            self._until_current.pop(result.key, None)
            self.queue.forget(result.key)
            if any(outcome.action is Action.PRUNED for outcome in result.outcomes):
                # The next reconcile deletes what the deleted objects depended on: behind the keys that wait already.
                add = self.queue.add_cleanup if isinstance(desired, Gone) else self.queue.add
                add(result.key)

    async def _desire(self, key: K, view: View) -> Graph | Gone | Hold:
        """Calls the function, and records what it depends on.

        They are recorded before anything else is awaited, so that no change is missed; what has changed since the view was frozen is looked
        up. So is the staleness: a later event does not make the state that the result was computed from any more current.
        """
        desired: Graph | Gone | Hold = Gone()
        if self._is_large(view, key):
            view.freeze()
        try:
            result = self._desired(view, key)
            desired = await result if isinstance(result, Awaitable) else result
            _check(desired, view)
        finally:
            changes = view.thaw()
            self._depend(key, view, desired)
            if any(key in self._dependencies.of(ref, *change) for ref, change in changes.items()):
                self.queue.add(key)
        return desired

    def _depend(self, key: K, view: View, desired: Graph | Gone | Hold) -> None:
        self._dependencies.replace(key, view, desired.objects if isinstance(desired, Graph) else ())

    async def _reconcile_desired(self, key: K, desired: Graph | Gone | Hold, view: View) -> Sequence[Outcome]:
        if isinstance(desired, Gone):
            self._dependencies.drop(key)
            return await self._reconcile(key, desired, view)
        reads, clock = view.read.count(), asyncio.get_running_loop().time
        until = clock() + MAX_DECISION_AGE
        view.is_outdated = lambda: clock() > until and self.queue.is_added_again(key)
        try:
            return await self._reconcile(key, desired, view)
        finally:
            if view.read.count() > reads:  # planning and `members` read, too
                self._depend(key, view, desired)


async def _free(graph: Graph) -> None:
    """Frees a graph in portions, between which other tasks run: at once, one of 20,000 objects would hold up the event loop for 40 ms."""
    graph.statuses = statuses = list(graph.statuses)
    while graph.objects or statuses:
        del statuses[-PORTION:]
        for ref in list(islice(graph.objects, PORTION)):
            del graph.objects[ref]
        await asyncio.sleep(0)


def _check(desired: Graph | Gone | Hold, view: View) -> None:
    """Raises `TypeError` for what is no desired state, and `NotSynced` if something counts as gone in a state that may be stale."""
    if not isinstance(desired, Graph | Gone | Hold):
        raise TypeError(f"a graph, Gone() or Hold(reason) is wanted of a function, and not {desired!r}")
    staleness = view.staleness()
    if staleness and isinstance(desired, Gone):
        view.refresh()
        raise NotSynced(f"it is unknown whether it is deleted: {staleness[0]}")


def _asked_for(errors: Iterable[Exception | None]) -> float:
    """Returns for how many seconds a server, or a webhook of somebody, has asked not to be asked again."""
    return max((error.retry_after or 0.0 for error in errors if isinstance(error, ApiError)), default=0.0)


def _may_succeed_on_retry(outcome: Outcome) -> bool:
    """Reports whether a retry may help: after a failure, if an object was not as the cache had shown it, or if it is somebody else's.

    Watches show when that is gone. Of all else that could make it ours the retries are a safeguard.
    """
    return outcome.action is Action.FAILED or outcome.step.is_foreign or isinstance(outcome.error, WriteConflict | NotFound)


def _message(error: Exception) -> str:
    """Returns an error's message; that of an unexpected exception with its type, because the message alone may not be clear."""
    return str(error) if isinstance(error, ApplierError) else f"{type(error).__name__}: {error}"


async def _cancel_all(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancels tasks and waits for them. One that first finishes its requests, as `execute` does, is cancelled again after a moment."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=CANCEL_TIMEOUT)
    await asyncio.gather(*tasks, return_exceptions=True)
