"""Remembers by content what follows from content alone, so that what was seen already costs a digest."""

from __future__ import annotations

from typing import Generic, TypeVar

try:  # hashlib loads OpenSSL for this, which takes as long as the rest of a small compilation
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b

T = TypeVar("T")


class ContentMemory(Generic[T]):
    """Remembers so many values by the digests of what they follow from; what was not asked for the longest is forgotten first."""

    __slots__ = ("_most", "_values")

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[bytes, T] = {}

    def recall(self, digest: bytes) -> T | None:
        """Returns the value of a content, by its digest; none where it is not remembered."""
        value = self._values.pop(digest, None)
        if value is not None:
            self._values[digest] = value
        return value

    def remember(self, digest: bytes, value: T) -> None:
        """Keeps a value."""
        self._values[digest] = value
        if len(self._values) > self._most:
            self._values.pop(next(iter(self._values)), None)  # `grove serve` computes in a second thread


def digest_of(content: bytes) -> bytes:
    """Returns what stands for a content: no two that anybody can make have the same."""
    return blake2b(content, digest_size=16).digest()
