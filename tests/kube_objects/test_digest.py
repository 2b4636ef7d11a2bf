"""Digests tell contents apart, whatever their size, and are those of BLAKE2."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from kube_objects.digest import PORTION, digest_of


@pytest.mark.parametrize("size", [0, 1, PORTION, PORTION + 1, 3 * PORTION + 5])
def test_a_digest_is_that_of_the_whole(size: int) -> None:
    content = bytes(position % 251 for position in range(size))
    assert digest_of(content) == blake2b(content, digest_size=16).digest()


def test_contents_are_told_apart() -> None:
    assert len({digest_of(content) for content in (b"", b"a", b"b", b"ab")}) == 4
