"""Represents a response and its headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Headers(Mapping[str, str]):
    """Maps header names, in any case, to values. Searches linearly: most responses are asked for one header or none."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self.pairs = pairs

    def all(self, name: str) -> list[str]:
        """Returns all values of a header that may occur more than once."""
        lowered = name.lower().encode()
        return [value.decode("latin-1") for key, value in self.pairs if key.lower() == lowered]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a header, or the default. Unlike that of Mapping, raises no exception internally, since most headers are absent."""
        lowered = name.lower().encode()
        for key, value in self.pairs:
            if key.lower() == lowered:
                return value.decode("latin-1")
        return default

    def __getitem__(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return str(value)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(key.decode("latin-1").lower() for key, _ in self.pairs))

    def __len__(self) -> int:
        return len({key.lower() for key, _ in self.pairs})


class Response(NamedTuple):
    """Represents a complete response; `body` is decompressed."""

    status: int
    headers: Headers
    body: bytes
