"""Why there is no answer."""

from __future__ import annotations


class HttpError(Exception):
    """No answer, or none that is whole. Besides these, `OSError` and `TimeoutError` are raised as they come."""


class NotConnected(HttpError):
    """No connection, so that nothing was sent. `__cause__` is why; `proxy` is where we were told to go first, as `host:port`."""

    def __init__(self, host: str, proxy: str = "") -> None:
        super().__init__(host, proxy)
        self.host, self.proxy = host, proxy


class ProxyRefused(HttpError):
    """The proxy answered with this status when asked to connect us, so that nothing was sent."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Ended(HttpError):
    """The server ended the connection before its answer was complete."""

    def __init__(self) -> None:
        super().__init__("it ended the connection")


class Malformed(HttpError):
    """What came is not HTTP, or is not encoded as we asked for."""
