"""Credentials that are renewed once for all requests that wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from applier.errors import CredentialsError
from applier.transport.login.credentials import Credentials

Proof = tuple[str, tuple[str, str], str]
"""What a request proves itself with: its Authorization header, and the certificate and key of its connection; and whom that trusts."""

QUIET = 5.0  # seconds in which nobody is asked again who has failed, or had nothing new: many requests may be waiting


class Renewal:
    """Renews before a request, where it is time, and after a refusal."""

    def __init__(self, credentials: Credentials, ca: Callable[[], str] = lambda: "", now: Callable[[], float] = time.monotonic) -> None:
        self.credentials, self.ca, self.now = credentials, ca, now
        self._one_by_one = asyncio.Lock()
        self._failed: tuple[float, CredentialsError] | None = None
        self._in_vain: tuple[float, Proof] | None = None

    def current(self) -> Proof:
        """Returns what we have."""
        return self.credentials.authorization(), self.credentials.pair, self.ca()

    async def ready(self) -> Proof:
        """Returns what a request is to be sent with, renewed where it is time. Raises `CredentialsError`."""
        if self.credentials.due():
            async with self._one_by_one:
                if self.credentials.due():  # or else somebody has done it meanwhile
                    await self._renew()
        return self.current()

    async def after(self, sent: Proof) -> bool:
        """Tells, after the server has refused what was sent, whether there is something else to try. Raises `CredentialsError`."""
        async with self._one_by_one:
            if self.current() != sent:
                return True
            if self._in_vain and self._in_vain[1] == sent and self.now() - self._in_vain[0] < QUIET:
                return False
            if await self._renew():
                return True
            self._in_vain = self.now(), sent
            return False

    async def _renew(self) -> bool:
        if self._failed and self.now() - self._failed[0] < QUIET:
            raise self._failed[1]
        try:
            return await self.credentials.renew()
        except CredentialsError as error:
            self._failed = self.now(), error
            raise
