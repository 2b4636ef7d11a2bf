"""The garbage collector: it works while tests run, but not on what was made before."""

from __future__ import annotations

import gc
import weakref


class Ring:
    """Something that refers to itself, so that only the garbage collector ends it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_tests_leave_in_rings_goes_after_a_while() -> None:
    left = weakref.ref(Ring())
    kept: list[list[int]] = []
    while left() is not None and len(kept) <= 2 * gc.get_threshold()[0]:
        kept.append([])
    assert left() is None


def test_what_collection_has_made_is_not_looked_at_again() -> None:
    looked_at = {id(one) for one in gc.get_objects()}
    assert gc.get_freeze_count() > 10_000
    assert id(vars(weakref)) not in looked_at
