"""Reads times of objects that somebody else has written."""

from __future__ import annotations

from grove_compiler.kube.timestamp import time


def time_in(text: object) -> float | None:
    """Returns seconds since the epoch; none without a time, and for a malformed one, as a file may have."""
    try:
        return time(str(text)) if text else None
    except ValueError:
        return None
