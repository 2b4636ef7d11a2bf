"""Caches credentials of exec plugins, and renews them before they expire."""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from applier.errors import CredentialsError

EARLY = 60.0  # seconds before their expiry that credentials are renewed; half of their remaining life if that is shorter
MIN_INTERVAL = 5.0  # seconds between two renewals, whatever the expiry


class Granted(NamedTuple):
    """Holds issued credentials. `pair` is a client certificate and its key; `until` is the expiry, None without one."""

    header: str
    pair: tuple[str, str]
    until: datetime.datetime | None

    def __repr__(self) -> str:
        """Omits the secrets."""
        return f"<granted until {self.until}>"


def utc_now() -> datetime.datetime:
    """Returns the current time of this machine."""
    return datetime.datetime.now(datetime.UTC)


class Plugin:
    """Issues credentials by `issue` at the first request, and again before they expire. `issue` raises `CredentialsError`."""

    def __init__(self, issue: Callable[[], Awaitable[Granted]], now: Callable[[], datetime.datetime] = utc_now) -> None:
        self.issue, self.now = issue, now
        self.granted: Granted | None = None
        self.pair = ("", "")
        self._renew_at: datetime.datetime | None = None

    def authorization(self) -> str:
        """Returns the Authorization header of the last credentials; empty before the first."""
        return self.granted.header if self.granted else ""

    def due(self) -> bool:
        """Reports whether there are no credentials yet, or they expire soon."""
        return self.granted is None or (self._renew_at is not None and self.now() >= self._renew_at)

    async def renew(self) -> bool:
        """Issues credentials; returns whether they differ from the last ones.

        Raises `CredentialsError`, unless this is an early renewal of credentials that are still valid, which is tried again later.
        """
        before, early = self.granted, self.due()
        try:
            self.granted = await self.issue()
        except CredentialsError:
            if not (early and before and before.until and before.until > self.now()):
                raise
            self._renew_at = self.now() + datetime.timedelta(seconds=MIN_INTERVAL)
            return False
        self.pair = self.granted.pair
        self._renew_at = self._next_renewal()
        return before is None or before[:2] != self.granted[:2]

    def _next_renewal(self) -> datetime.datetime | None:
        """Returns when to renew. A plugin that caches its token returns it until it expires: each renewal then halves the wait."""
        assert self.granted is not None
        if self.granted.until is None:
            return None
        now = self.now()
        left = (self.granted.until - now).total_seconds()
        least = min(MIN_INTERVAL, left) if left > 0 else MIN_INTERVAL  # expired by our clock, perhaps not by the server's
        return now + datetime.timedelta(seconds=max(left - EARLY, left / 2, least))
