"""Converts timestamps of Kubernetes: metav1.Time and MicroTime are RFC 3339, `2026-01-01T00:00:00Z`.

Rules compute with seconds since the epoch, so that a deadline is a sum and a comparison.
"""

from __future__ import annotations

import re

_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_LAST = 253402300800
"""The start of the year 10000, which RFC 3339 cannot express, in seconds since the epoch."""


def time(text: str | None) -> float | None:
    """Returns the seconds since the epoch of a time such as `2026-01-01T00:00:00Z`; None for None. Raises ValueError."""
    from datetime import datetime  # seldom used, so not paid for at start-up

    if text is None:
        return None
    if not isinstance(text, str) or not _FORM.fullmatch(text):
        raise ValueError(f"{text!r} is not a time such as 2026-01-01T00:00:00Z")
    return datetime.fromisoformat(text).timestamp()


def timestamp(seconds: float) -> str:
    """Returns seconds since the epoch as Kubernetes writes a time: in UTC, whole seconds. Raises ValueError outside of 1970 to 9999."""
    from datetime import UTC, datetime

    if not 0 <= seconds < _LAST:
        raise ValueError(f"{seconds!r} seconds are not between the years 1970 and 9999")
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()[:19] + "Z"  # strftime was a fortieth of a step in a cluster
