"""Represents credentials: an Authorization header, a client certificate, and their renewal."""

from __future__ import annotations

import base64
import re
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
