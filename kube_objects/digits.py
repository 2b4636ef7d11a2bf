"""Splits a decimal number off the beginning of a text."""

from __future__ import annotations

DIGITS = "0123456789"


def leading_number(text: str) -> tuple[str, str, str]:
    """Returns the digits before and after the point, and what follows the number. Without a number, both digits are empty.

    Only ASCII digits count: `isdecimal` takes those of every alphabet, which Go does not.
    """
    rest = text.lstrip(DIGITS)
    whole = text[: len(text) - len(rest)]
    if rest[:1] != ".":
        return whole, "", rest
    behind = rest[1:].lstrip(DIGITS)
    return whole, rest[1 : len(rest) - len(behind)], behind
