"""Caches by content what follows from content alone, so that a repeated content costs only a digest."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class ContentCache(Generic[T]):
    """Represents an LRU cache of `most` values, by the digests of the contents they were computed from."""

    __slots__ = ("_most", "_values")

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[bytes, T] = {}

    def get(self, digest: bytes) -> T | None:
        """Returns the value for a content, by its digest; None where it is not cached. Marks it as recently used."""
        value = self._values.pop(digest, None)
        if value is not None:
            self._values[digest] = value
        return value

    def put(self, digest: bytes, value: T) -> None:
        """Caches a value; evicts the least recently used one above the limit."""
        self._values[digest] = value
        if len(self._values) > self._most:
            self._values.pop(next(iter(self._values)), None)  # `grove serve` computes in a second thread
