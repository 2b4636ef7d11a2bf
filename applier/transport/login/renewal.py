"""Renews credentials, once for all concurrent requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from applier.errors import CredentialsError
from applier.transport.login.credentials import Credentials

Proof = tuple[str, tuple[str, str], str]
"""The credentials of a request: its Authorization header, the certificate and key of its connection, and its certificate authority."""

COOL_DOWN = 5.0  # seconds after a renewal that failed or changed nothing in which none is tried: many requests may be waiting


class Renewal:
    """Renews credentials before a request if they are due, and after a refusal (401)."""

    def __init__(self, credentials: Credentials, ca: Callable[[], str] = lambda: "", now: Callable[[], float] = time.monotonic) -> None:
        self.credentials, self.ca, self.now = credentials, ca, now
        self._lock = asyncio.Lock()
        self._failed: tuple[float, CredentialsError] | None = None
        self._unchanged: tuple[float, Proof] | None = None

    def current(self) -> Proof:
        """Returns the current credentials."""
        return self.credentials.authorization(), self.credentials.pair, self.ca()

    async def ready(self) -> Proof:
        """Returns the credentials for a request, renewed if they are due. Raises `CredentialsError`."""
        if self.credentials.due():
            async with self._lock:
                if self.credentials.due():  # else another request has renewed them meanwhile
                    await self._renew()
        return self.current()

    async def after(self, sent: Proof) -> bool:
        """Renews the credentials that the server has refused; returns whether there are others to try. Raises `CredentialsError`."""
        async with self._lock:
            if self.current() != sent:
                return True
            if self._unchanged and self._unchanged[1] == sent and self.now() - self._unchanged[0] < COOL_DOWN:
                return False
            if await self._renew():
                return True
            self._unchanged = self.now(), sent
            return False

    async def _renew(self) -> bool:
        if self._failed and self.now() - self._failed[0] < COOL_DOWN:
            raise self._failed[1]
        try:
            return await self.credentials.renew()
        except CredentialsError as error:
            self._failed = self.now(), error
            raise
