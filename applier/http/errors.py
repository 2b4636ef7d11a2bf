"""Defines the errors of requests without a complete response."""

from __future__ import annotations


class HttpError(Exception):
    """Reports a request without a complete response. Requests also raise `OSError` and `TimeoutError` as they occur."""


class NotConnected(HttpError):
    """Reports that no connection could be made, so that nothing was sent. `__cause__` is the reason; `proxy` is `host:port` of a proxy."""

    def __init__(self, host: str, proxy: str = "") -> None:
        super().__init__(host, proxy)
        self.host, self.proxy = host, proxy


class ProxyRefused(HttpError):
    """Reports that the proxy refused to open a tunnel, so that nothing was sent."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ConnectionEnded(HttpError):
    """Reports that the server closed the connection before its response was complete."""

    def __init__(self) -> None:
        super().__init__("it closed the connection")


class Malformed(HttpError):
    """Reports data that is not HTTP, or has an encoding that we did not request."""
