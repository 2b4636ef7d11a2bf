"""Spares Python's garbage collector work: none while pytest collects, where it takes a third of the time, and less while tests run.

Nearly all that collection makes stays until the end. So does what tests share, programs above all, and to look at all of it every few
seconds took up to a tenth of what tests cost.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

YOUNG = 5_000
"""Allocations between two looks at the youngest, instead of 700: most of what a step allocates is freed before, and not looked at."""
OLD = 100
"""Looks at the generation in the middle between two at all that is older, instead of 10."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collects the tests with the garbage collector off, and spares it their objects for good: they would be looked at in vain again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(YOUNG, gc.get_threshold()[1], OLD)
