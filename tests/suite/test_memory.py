"""That what a test has freed is given back."""

from __future__ import annotations

import pytest

from tests.suite.memory import resident, trimmer


@pytest.mark.skipif(trimmer() is None, reason="another C library")
def test_what_lies_between_what_is_used_is_given_back() -> None:
    trim = trimmer()
    assert trim is not None
    trim(0)  # what others have freed
    before = resident()
    pairs = [(bytearray(b"x" * 100_000), bytearray(b"y" * 1_000)) for _ in range(1_000)]
    taken = resident() - before
    used = [small for _, small in pairs]
    del pairs
    trim(0)
    assert resident() - before < taken / 2
    assert len(used) == 1_000
