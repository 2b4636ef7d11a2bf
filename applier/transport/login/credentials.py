"""Who we are to a server: a header, a client certificate, and how both are renewed."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from applier.errors import CredentialsError

REREAD = 10.0  # seconds that a token file is taken for unchanged; the kubelet replaces tokens long before they end


TOKEN = re.compile(r"[!-~]+")


def bearer(token: str, what: str) -> str:
    """The Authorization header for a token; empty for none. `what` names it in the `CredentialsError` for one that no header can carry."""
    if token and not TOKEN.fullmatch(token):
        raise CredentialsError(f"{what} has spaces, line breaks or other characters that no token has; was it cut or pasted wrongly?")
    return f"Bearer {token}" if token else ""


class Credentials(Protocol):
    """What proves who we are."""

    @property
    def pair(self) -> tuple[str, str]:
        """A client certificate and its key as PEM text, both empty where there is none."""

    def authorization(self) -> str:
        """The Authorization header; empty where there is none. Must be quick."""

    def due(self) -> bool:
        """Whether `renew` should be called before the next request."""

    async def renew(self) -> bool:
        """Gets new credentials; False when there are no newer ones. Raises `CredentialsError`."""


class Fixed:
    """A token, a name with a password, a certificate, or nothing at all: what does not change."""

    def __init__(self, header: str = "", pair: tuple[str, str] = ("", "")) -> None:
        self.header, self.pair = header, pair

    @classmethod
    def token(cls, token: str, pair: tuple[str, str] = ("", ""), what: str = "the token") -> Fixed:
        """A bearer token; an empty one is none. Raises `CredentialsError`."""
        return cls(bearer(token.strip(), what), pair)

    @classmethod
    def basic(cls, user: str, password: str, pair: tuple[str, str] = ("", "")) -> Fixed:
        """A name and a password."""
        return cls("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode(), pair)

    def authorization(self) -> str:
        """The same at all times."""
        return self.header

    def due(self) -> bool:
        """Never."""
        return False

    async def renew(self) -> bool:
        """There is nothing to renew."""
        return False


class TokenFile:
    """A token in a file that somebody else, such as the kubelet, replaces before it ends. Read again every ten seconds."""

    def __init__(self, path: Path, pair: tuple[str, str] = ("", ""), now: Callable[[], float] = time.monotonic) -> None:
        self.path, self.pair, self.now = path, pair, now
        self.header = ""
        self.read_at = float("-inf")
        self.read()

    def read(self) -> bool:
        """Reads the file; says whether the token is another one. Raises `CredentialsError`."""
        try:
            token = self.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CredentialsError(f"cannot read the token file {self.path}: {getattr(error, 'strerror', None) or error}") from None
        if not token:
            raise CredentialsError(f"the token file {self.path} is empty")
        before, self.header = self.header, bearer(token, f"the token in {self.path}")
        self.read_at = self.now()
        return before != self.header

    def authorization(self) -> str:
        """The token as it was last read."""
        return self.header

    def due(self) -> bool:
        """Whether ten seconds have gone by since the file was read."""
        return self.now() - self.read_at > REREAD

    async def renew(self) -> bool:
        """Reads the file now. One that cannot be read for a moment, while it is replaced, leaves the token as it was."""
        try:
            return self.read()
        except CredentialsError:
            self.read_at = self.now()
            return False
