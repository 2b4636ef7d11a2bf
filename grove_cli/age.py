"""Formats durations as kubectl does."""

from __future__ import annotations

UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def age(seconds: float) -> str:
    """Returns a duration in its two largest units: `3m20s`, `2d4h`; `0s` for a negative one."""
    left = max(int(seconds), 0)
    parts: list[str] = []
    for unit, size in UNITS:
        if left >= size or parts:
            parts.append(f"{left // size}{unit}")
            left %= size
    return "".join(part for part in parts[:2] if not part.startswith("0")) or "0s"


def since(moment: float | None, now: float) -> str:
    """Returns the time since a moment as a duration; `<unknown>` without a moment, as kubectl prints."""
    return "<unknown>" if moment is None else age(now - moment)
