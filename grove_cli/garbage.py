"""Limits the pauses of Python's garbage collector in long-running processes.

A review or a step leaves nothing to the cyclic collector (`grove_compiler.model.expanded.expansion`), but tasks and exceptions do. It
collects the youngest generation after a number of allocations, and the oldest one when that has grown by a quarter.
"""

from __future__ import annotations

import gc

YOUNG = 2_000
"""Allocations between two collections of the youngest generation, of 0.2 ms each. At 50,000 one took 15 ms, longer than four reviews."""
RATIO = 10
"""Collections of a generation between two of the next older one; one of the second generation takes 1 ms."""


def collect_in_small_portions() -> None:
    """Enables the collector, which the entry point disables, with frequent and so short collections."""
    gc.enable()
    gc.set_threshold(YOUNG, RATIO, RATIO)


def freeze_existing() -> None:
    """Excludes existing values (modules, rules and schemas, which live as long as the process) from later collections."""
    gc.collect()
    gc.freeze()
