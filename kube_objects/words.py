"""Puts counts, lists of names and long texts into words, as all messages do."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Returns `1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Lists names as in `a, b, c and 4 more`."""
    known = list(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


def shortened(text: str, length: int) -> str:
    """Returns the text, if it is longer cut to this length with `…` at its end."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
