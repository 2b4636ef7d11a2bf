"""Keeps a cluster as a function from snapshot to graph says, key by key, for as long as it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from applier.cache import WatchCache
from applier.desired import Graph
from applier.loop.lease import Lease
from applier.loop.queue import QueueClosed, WorkQueue
from applier.loop.view import Interests, View
from applier.outcome import Action, Outcome
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)
Desire = Callable[[View, K], Graph | None]
Reconcile = Callable[[K, Graph, View], Awaitable[Sequence[Outcome]]]
Keys = Callable[[Ref, Manifest | None, Manifest | None], Iterable[K]]
OnError = Callable[[K, Exception], None]


def _no_keys(*_: object) -> Iterable[K]:
    """Derives no keys from objects: they come by `wake`."""
    return ()


def _unheard(*_: object) -> None:
    """Listens to nothing."""


class Loop(Generic[K]):
    """Calls `desired` for a key and `reconcile` with its graph: whenever an object changes that the function asked for or that the graph
    holds, when `keys` derives the key from a changed object, after a failure, when the function asked for it, and on `wake`.

    `desired` is pure and quick: it sees one consistent state. None in place of a graph says that the key is no more. One key is never
    worked on twice at once; `workers` keys are at a time. With a `lease` only its holder works; the others keep their caches warm.
    `reconcile` has to write through the lease's fence. `on_error` is told what failed as a whole; the key is tried again, ever later.
    The loop starts and stops its cache.
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
        on_error: OnError[K] = _unheard,
    ) -> None:
        self.cache, self.queue, self.lease = cache, queue or WorkQueue[K](), lease
        self._desired, self._reconcile, self._keys, self._on_error = desired, reconcile, keys, on_error
        self._interests: Interests[K] = Interests()
        self._workers = workers
        self._stopping = asyncio.Event()
        self._grace = 0.0

    async def run(self) -> None:
        """Runs until `stop`; then ends within its grace period, or some seconds later where a server does not answer.

        Raises at once what keeps it from reading the cluster. Cancelling ends it without grace.
        """
        ended = self.cache.subscribe(self._changed)
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(self._stopping.wait(), name="stopping")]
        if self.lease:
            tasks.append(asyncio.create_task(self.lease.run(), name="lease"))
        try:
            await self.cache.start()
            await self.cache.synced()
            workers = [asyncio.create_task(self._work(), name=f"worker {number}") for number in range(self._workers)]
            tasks += workers
            over, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self.queue.close()
            await asyncio.wait(workers, timeout=self._grace)
            for task in over:
                task.result()  # a task that broke is a fault of ours, and not to be hidden
        finally:
            ended()
            await _cancelled(tasks)
            if self.lease:
                await self.lease.release()
            await self.cache.stop()

    def stop(self, grace: float = 25.0) -> None:
        """Asks the loop to end: no key is begun any more, and those in work have `grace` seconds to end."""
        self._grace = grace
        self._stopping.set()

    def wake(self, key: K) -> None:
        """Lets a key be looked at soon."""
        self.queue.add(key)

    async def settled(self) -> None:
        """Returns as soon as no key waits or is in work. Keys that failed wait for their next try and do not count."""
        await self.queue.idle()

    def _changed(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        for key in {*self._keys(ref, old, new), *self._interests.of(ref, old, new)}:
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
        """Brings one key to where it should be, or sees to it that it is tried again."""
        if self.lease and not self.lease.held.is_set():
            return self.queue.add(key)  # for when we lead again
        view = View(self.cache)
        try:
            outcomes = await self._bring(key, view)
        except Exception as error:  # of the function or of the server: one key's trouble must not end the others
            self._on_error(key, error)
            self.queue.retry(key)
            return None
        if any(outcome.action is Action.FAILED for outcome in outcomes):
            self.queue.retry(key)
            return None
        self.queue.forget(key)
        if view.again_in is not None:
            self.queue.add_after(key, view.again_in)
        return None

    async def _bring(self, key: K, view: View) -> Sequence[Outcome]:
        graph: Graph | None = None
        try:
            graph = self._desired(view, key)
        finally:
            self._interests.replace(key, view, graph.objects if graph else ())  # before anything is awaited: no change may be missed
        if graph is None:
            self._interests.drop(key)
            return await self._reconcile(key, Graph([]), view)
        asked = view.questions()
        try:
            return await self._reconcile(key, graph, view)
        finally:
            if view.questions() > asked:
                self._interests.replace(key, view, graph.objects)  # with what planning asked for


async def _cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
