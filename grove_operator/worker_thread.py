"""Runs what takes long in a thread, so that small reviews and steps, watches and timers go on beside it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.step import StepContext

T = TypeVar("T")


class WorkerThread:
    """Runs one function after the other, with a program of its own: a program does not run in two threads at once.

    `budget` is that of the program.
    """

    def __init__(self, name: str, budget: CostBudget) -> None:
        self._thread, self._budget = ThreadPoolExecutor(1, name), budget
        self._made_of: tuple[object, object] = (None, None)
        self._context: StepContext | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Returns the result of a function, which has to be cancelled by its own means. Raises what it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, without_collector, work)

    def context_of(self, context: StepContext) -> StepContext:
        """Returns the same context with the thread's program. Made anew only when the rules or the configuration change."""
        made_of = context.program, context.document
        if self._context is None or any(one is not other for one, other in zip(made_of, self._made_of, strict=True)):
            self._made_of = made_of
            self._context = StepContext(context.program.with_budget(self._budget), context.settings, context.document)
        return self._context


def without_collector(work: Callable[[], T]) -> T:
    """Runs a function without the cyclic garbage collector, which stops all threads: for 0.15 s beside the values of a large set.

    It does not look at the result either, of which there may be as many: reference counting frees it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()
