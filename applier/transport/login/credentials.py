"""Represents credentials: an Authorization header and a client certificate; renews them once for all concurrent requests."""

from __future__ import annotations

import asyncio
import base64
import re
import time
from collections.abc import Callable
from typing import Protocol

from applier.errors import CredentialsError

TOKEN = re.compile(r"[!-~]+")


def bearer(token: str, label: str) -> str:
    """Returns the Authorization header for a token; empty for none.

    Raises `CredentialsError`, with `label` as its name, for a token that is not valid in a header.
    """
    if token and not TOKEN.fullmatch(token):
        raise CredentialsError(
            f"{label} has spaces, line breaks or other characters that tokens cannot contain; was it truncated or pasted incorrectly?"
        )
    return f"Bearer {token}" if token else ""


class Credentials(Protocol):
    """Authenticates requests, and can be renewed."""

    @property
    def pair(self) -> tuple[str, str]:
        """Returns a client certificate and its key in PEM form, both empty if there is none."""

    def authorization(self) -> str:
        """Returns the Authorization header; empty if there is none. Called for each request, so it must be fast."""

    def due(self) -> bool:
        """Reports whether the credentials should be renewed before the next request."""

    async def renew(self) -> bool:
        """Gets new credentials; returns whether they differ. Raises `CredentialsError`."""


class Fixed:
    """Represents credentials that do not change: a token, a user with a password, a certificate, or none."""

    def __init__(self, header: str = "", pair: tuple[str, str] = ("", "")) -> None:
        self.header, self.pair = header, pair

    @classmethod
    def token(cls, token: str, pair: tuple[str, str] = ("", ""), label: str = "the token") -> Fixed:
        """Returns credentials with a bearer token, unless it is empty. Raises `CredentialsError`."""
        return cls(bearer(token.strip(), label), pair)

    @classmethod
    def basic(cls, user: str, password: str, pair: tuple[str, str] = ("", "")) -> Fixed:
        """Returns credentials with a user and a password."""
        return cls("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode(), pair)

    def authorization(self) -> str:
        return self.header

    def due(self) -> bool:
        return False

    async def renew(self) -> bool:
        return False


Proof = tuple[str, tuple[str, str], str]
"""The credentials of a request: its Authorization header, the certificate and key of its connection, and its certificate authority."""

COOL_DOWN = 5.0  # seconds after a renewal that failed or changed nothing in which none is tried: many requests may be waiting


class Renewal:
    """Renews credentials before a request if they are due, and after a rejection (401)."""

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
        """Renews the credentials that the server has rejected; returns whether there are others to try. Raises `CredentialsError`."""
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
