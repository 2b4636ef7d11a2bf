"""Keeps one connection to a server for each thread: to make a new one, with its TLS handshake, costs more than most requests."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit


class Connections:
    """Represents the connections of a process to one server."""

    def __init__(self, url: str, tls: ssl.SSLContext) -> None:
        self._where, self._tls, self._own = urlsplit(url), tls, threading.local()

    def send(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[http.client.HTTPResponse, str]:
        """Sends a request; returns the answer and its text. Raises `OSError` and `http.client.HTTPException`.

        A kept connection may have been closed by a server that was restarted: a new one is made then.
        """
        kept: http.client.HTTPSConnection | None = getattr(self._own, "connection", None)
        if kept is not None and kept.sock is not None:
            kept.sock.settimeout(timeout)
            with contextlib.suppress(ConnectionError, http.client.BadStatusLine, ssl.SSLError):
                return self._sent(kept, method, path, body, headers)
        fresh = http.client.HTTPSConnection(self._where.hostname or "", self._where.port, context=self._tls, timeout=timeout)
        self._own.connection = fresh
        return self._sent(fresh, method, path, body, headers)

    def _sent(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: str | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer, answer.read().decode()
        except BaseException:
            connection.close()  # an answer that comes later belongs to no other request
            raise
