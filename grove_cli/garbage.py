"""Limits the pauses of Python's garbage collector in long-running processes.

A review or a step leaves nothing to the cyclic collector (`grove_compiler.model.expanded.expansion`), but tasks and exceptions do. It
collects the youngest generation after a number of allocations, and the oldest one when that has grown by a quarter: with a cache of ten
thousand pods it would then look at a million values, for a second. So what has survived such a collection is excluded from further ones
until the process has twice its size: what is cached has no cycles, and reference counting frees it.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

YOUNG = 2_000
"""Allocations between two collections of the youngest generation, of 0.2 ms each. At 50,000 one took 15 ms, longer than four reviews."""
RATIO = 10
"""Collections of a generation between two of the next older one; one of the second generation takes 1 ms."""
OLDEST = 2
GROWTH = 2
"""How many times as many blocks of memory there are when everything is collected again."""


def collect_in_small_portions() -> None:
    """Enables the collector, which the entry point disables, with frequent and so short collections."""
    gc.enable()
    gc.set_threshold(YOUNG, RATIO, RATIO)
    if not any(isinstance(one, ExcludedSurvivors) for one in gc.callbacks):
        gc.callbacks.append(ExcludedSurvivors())


class ExcludedSurvivors:
    """Excludes what has survived a full collection from later ones, until the process has grown to `GROWTH` times its size.

    Python calls it before and after each collection. Excluded values that have become garbage in cycles remain until then.
    """

    def __init__(self) -> None:
        self._size = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if info["generation"] < OLDEST:
            return
        if phase == "stop":
            gc.freeze()
        elif sys.getallocatedblocks() > GROWTH * self._size:
            self._size = sys.getallocatedblocks()
            gc.unfreeze()


def freeze_existing() -> None:
    """Excludes existing values (modules, rules and schemas, which live as long as the process) from later collections."""
    gc.collect()
    gc.freeze()
