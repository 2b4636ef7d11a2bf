"""Tells a server's time by the dates of its responses: times that a server has written can be compared with no other clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

INTERVAL = 1.0
"""Seconds between two dates that are looked at. A date has full seconds, so that another one within one says hardly more."""
LEAP = 2.0
"""Seconds by which a single response sets the clock ahead: a date is cut to full seconds, and a response is on its way for a while."""
CONFIRMED = 30.0
"""Seconds for which all responses have to say that it is later by more. One of several servers may have a wrong clock."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ServerClock:
    """Returns a server's time in seconds since the epoch; until its first response that of this machine.

    Between responses the monotonic clock goes on, so that nothing is over at once where somebody sets the clock of this machine. A date is
    cut to full seconds, and a response is on its way for a while: it only tells two times between which the server's is. So the clock stays
    as it is where both clocks are right. Else it is set to the earlier one, and comes closer with each response: what is done late does no
    harm, and early it may. So where servers behind one address have different times, the earliest counts, but for the very first response.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._offset = wall() - monotonic()
        self._due = float("-inf")
        self._is_told = False  # by a response
        self._later: tuple[float, float] | None = None  # since when responses say that it is later by more, and the least that they say

    def __call__(self) -> float:
        return self._monotonic() + self._offset

    def note(self, headers: Mapping[str, str], began: float) -> None:
        """Takes note of a response to a request that was sent at a time of the monotonic clock.

        One with an `Age` comes from a cache, such as a proxy's: its date is that of another request (RFC 9111).
        """
        ended = self._monotonic()
        if ended < self._due or "Age" in headers or (date := date_of(headers.get("Date") or "")) is None:
            return
        earliest, latest = date - ended, date + 1.0 - began
        self._due = ended + INTERVAL
        if self._is_told and earliest > self._offset + LEAP:
            since, least = self._later or (ended, earliest)
            earliest = min(least, earliest)
            self._later = since, earliest
            if ended - since < CONFIRMED:
                return
        self._is_told, self._later = True, None
        if not earliest <= self._offset <= latest:
            self._offset = earliest


def date_of(text: str) -> float | None:
    """Returns the seconds since the epoch of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, RFC 9110); None for anything else.

    The standard library's parser accepts more, and takes longer to import than a request.
    """
    try:
        _, day, month, year, clock, zone = text.split()
        hour, minute, second = map(int, clock.split(":"))
        moment = datetime(int(year), MONTHS.index(month) + 1, int(day), hour, minute, second, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment.timestamp() if zone == "GMT" else None
