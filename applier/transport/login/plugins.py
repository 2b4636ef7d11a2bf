"""Credentials that somebody else hands out, and when they are asked for again: exec plugins and identity providers."""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from applier.errors import CredentialsError

EARLY = 60.0  # seconds before their end that credentials are renewed; half of their life where that is shorter
LEAST = 5.0  # seconds between two questions, whatever the answer says of its end


class Granted(NamedTuple):
    """What was handed out. `pair` is a client certificate and its key; `until` is None for credentials without an end."""

    header: str
    pair: tuple[str, str]
    until: datetime.datetime | None

    def __repr__(self) -> str:
        """Leaves out what is secret."""
        return f"<granted until {self.until}>"


def utc_now() -> datetime.datetime:
    """Returns the time by this machine's clock."""
    return datetime.datetime.now(datetime.UTC)


class Plugin:
    """Asks for credentials at the first request, and again before they end. `ask` raises `CredentialsError`."""

    def __init__(self, ask: Callable[[], Awaitable[Granted]], now: Callable[[], datetime.datetime] = utc_now) -> None:
        self.ask, self.now = ask, now
        self.granted: Granted | None = None
        self.pair = ("", "")
        self._again: datetime.datetime | None = None

    def authorization(self) -> str:
        """Returns the token of the last answer."""
        return self.granted.header if self.granted else ""

    def due(self) -> bool:
        """Tells whether there is nothing yet, or it ends soon."""
        return self.granted is None or (self._again is not None and self.now() >= self._again)

    async def renew(self) -> bool:
        """Asks. Says whether the answer is another one than before. While what we have still holds, a failure to replace it early waits.

        Raises `CredentialsError`.
        """
        before, early = self.granted, self.due()
        try:
            self.granted = await self.ask()
        except CredentialsError:
            if not (early and before and before.until and before.until > self.now()):
                raise
            self._again = self.now() + datetime.timedelta(seconds=LEAST)
            return False
        self.pair = self.granted.pair
        self._again = self._when()
        return before is None or before[:2] != self.granted[:2]

    def _when(self) -> datetime.datetime | None:
        """Returns when to ask again. Plugins that keep their tokens give the same one until its end: then each answer halves the wait."""
        assert self.granted is not None
        if self.granted.until is None:
            return None
        now = self.now()
        left = (self.granted.until - now).total_seconds()
        least = min(LEAST, left) if left > 0 else LEAST  # one that has ended by our clock may hold by the server's
        return now + datetime.timedelta(seconds=max(left - EARLY, left / 2, least))
