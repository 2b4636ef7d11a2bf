"""An answer as the server gave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Headers(Mapping[str, str]):
    """Headers by their name in any case. Most answers are asked for one header or none, so that nothing is prepared."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self.pairs = pairs

    def all(self, name: str) -> list[str]:
        """Returns every value of a header that may come more than once."""
        wanted = name.lower().encode()
        return [value.decode("latin-1") for key, value in self.pairs if key.lower() == wanted]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a header as any mapping does; without an exception on the way, since most headers are not there."""
        wanted = name.lower().encode()
        for key, value in self.pairs:
            if key.lower() == wanted:
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
    """A whole answer; `body` is decompressed."""

    status: int
    headers: Headers
    body: bytes
