"""Reviews large objects in a thread, so that small reviews, steps and watches go on beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.inputs.snapshot import ChangedNames, ObjectReader
from grove_operator.webhooks.review import Reviewer
from grove_operator.worker_thread import WorkerThread

T = TypeVar("T")

LARGE = 128 << 10
"""Bytes of a request from which on it is reviewed aside. Smaller ones take some milliseconds, and a thread would gain nothing."""
MAX_SECONDS = 8.0
"""Seconds for a review, with its wait for those before it. An API server waits for ten, and its user never learns what took so long."""


class Overdue(Exception):
    """Reports that a review took too long."""


class Aside:
    """Runs the work of large reviews one after the other.

    What exists is read by the event loop, which changes it. Above `longest` seconds a review is given up before its next rule.
    """

    def __init__(self, longest: float = MAX_SECONDS) -> None:
        self._longest = longest
        self._budget = _Deadline()
        self._thread = WorkerThread("large reviews", self._budget)

    async def run(self, reviewer: Reviewer, work: Callable[[Reviewer], T]) -> T:
        """Returns the result of `work`, which gets the reviewer without the preview of effects. Raises `Overdue`, and what it raises."""
        until = time.monotonic() + self._longest
        loop = asyncio.get_running_loop()
        view = _OfLoop(reviewer.view, loop, until) if reviewer.view is not None else None
        beside = replace(reviewer, context=self._thread.context_of(reviewer.context), view=view, preview=None)
        try:
            async with asyncio.timeout(self._longest):
                return await self._thread.run(partial(self._until, until, partial(work, beside)))
        except TimeoutError:
            raise Overdue from None

    def _until(self, until: float, work: Callable[[], T]) -> T:
        self._budget.until = until
        return work()


class _Deadline(CostBudget):
    """Ends a run before its next rule once its time is over."""

    __slots__ = ("until",)

    def __init__(self) -> None:
        self.until = float("inf")
        super().__init__()

    def start(self, results: Any = ()) -> None:
        if time.monotonic() > self.until:
            raise Overdue
        super().start(results)


class _OfLoop:
    """Answers questions about what exists for another thread, each within the event loop (see `ObjectReader`)."""

    def __init__(self, view: ObjectReader, loop: asyncio.AbstractEventLoop, until: float) -> None:
        self._view, self._loop, self._until = view, loop, until

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """See `ObjectReader.get`."""
        return self._ask(lambda: self._view.get(group, kind, namespace, name))

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """See `ObjectReader.by_owner`."""
        return self._ask(lambda: self._view.by_owner(group, kind, owner))

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """See `ObjectReader.deleted`."""
        return self._ask(lambda: self._view.deleted(group, kind, owner))

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """See `ObjectReader.by_label`."""
        return self._ask(lambda: self._view.by_label(group, kind, key, value, namespace))

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        """See `ObjectReader.changes`."""
        return self._ask(lambda: self._view.changes(group, kind, key, value, namespace, since))

    def _ask(self, question: Callable[[], T]) -> T:
        async def answer() -> T:
            return question()

        # With a limit, since a loop that has ended answers nobody, and a process waits for its threads.
        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result(max(0.0, self._until - time.monotonic()))
