"""Represents a response and its headers, and the errors of requests without a complete one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class HttpError(Exception):
    """Reports a request without a complete response. Requests also raise `OSError` and `TimeoutError` as they occur."""


class NotConnected(HttpError):
    """Reports that no connection could be made, so that nothing was sent. `__cause__` is the reason; `proxy` is `host:port` of a proxy."""

    def __init__(self, host: str, proxy: str = "") -> None:
        super().__init__(host, proxy)
        self.host, self.proxy = host, proxy


class ProxyRefused(HttpError):
    """Reports that the proxy opened no tunnel, so that nothing was sent."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ConnectionEnded(HttpError):
    """Reports that the server closed the connection before its response was complete."""

    def __init__(self) -> None:
        super().__init__("it closed the connection")


class Malformed(HttpError):
    """Reports data that is not HTTP, or has an encoding that we did not request."""


def _text(value: bytes) -> str:
    """Returns the text of a header: API servers write warnings in UTF-8, and what is not is Latin-1 (RFC 9110 section 5.5)."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class Headers(Mapping[str, str]):
    """Maps header names, in any case, to values. Searches linearly: most responses are asked for one header or none."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self.pairs = pairs

    def all(self, name: str) -> list[str]:
        """Returns all values of a header that may occur more than once."""
        lowered = name.lower().encode()
        return [_text(value) for key, value in self.pairs if key.lower() == lowered]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a header, or the default. Unlike that of Mapping, raises no exception internally, since most headers are absent."""
        lowered = name.lower().encode()
        for key, value in self.pairs:
            if key.lower() == lowered:
                return _text(value)
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
