"""Who we are to a server: a header, a client certificate, and how both are renewed."""

from __future__ import annotations

import base64
import re
from typing import Protocol

from applier.errors import CredentialsError

TOKEN = re.compile(r"[!-~]+")


def bearer(token: str, label: str) -> str:
    """Returns the Authorization header for a token; empty for none.

    `label` names it in the `CredentialsError` for one that no header can carry.
    """
    if token and not TOKEN.fullmatch(token):
        raise CredentialsError(f"{label} has spaces, line breaks or other characters that no token has; was it cut or pasted wrongly?")
    return f"Bearer {token}" if token else ""


class Credentials(Protocol):
    """What proves who we are."""

    @property
    def pair(self) -> tuple[str, str]:
        """A client certificate and its key as PEM text, both empty where there is none."""

    def authorization(self) -> str:
        """Returns the Authorization header; empty where there is none. Must be quick."""

    def due(self) -> bool:
        """Tells that it never is."""

    async def renew(self) -> bool:
        """Gets new credentials; False when there are no newer ones. Raises `CredentialsError`."""


class Fixed:
    """A token, a name with a password, a certificate, or nothing at all: what does not change."""

    def __init__(self, header: str = "", pair: tuple[str, str] = ("", "")) -> None:
        self.header, self.pair = header, pair

    @classmethod
    def token(cls, token: str, pair: tuple[str, str] = ("", ""), label: str = "the token") -> Fixed:
        """Returns a bearer token; an empty one is none. Raises `CredentialsError`."""
        return cls(bearer(token.strip(), label), pair)

    @classmethod
    def basic(cls, user: str, password: str, pair: tuple[str, str] = ("", "")) -> Fixed:
        """Returns a name and a password."""
        return cls("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode(), pair)

    def authorization(self) -> str:
        """Returns the same at all times."""
        return self.header

    def due(self) -> bool:
        """Tells that it never is."""
        return False

    async def renew(self) -> bool:
        """Renews nothing: there is nothing to renew."""
        return False
