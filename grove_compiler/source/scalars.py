"""Resolves plain YAML scalars as kubectl does (sigs.k8s.io/yaml 1.6), which is YAML 1.1 without base 60."""

from __future__ import annotations

Scalar = str | int | float | bool | None

# Each version of Python converts a number of this many characters, whatever base it is in (the lowest settable limit is 640 digits).
MAX_NUMBER_LENGTH = 500

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"), False),
}
NOT_FINITE = frozenset(sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")) | {".nan", ".NaN", ".NAN"}
_FLOAT_CHARACTERS = frozenset("0123456789.eE+-_")


class UnreadableNumber(ValueError):
    """Reports a number that JSON, and so Kubernetes, cannot represent. The message says how to correct it."""


def resolve(text: str) -> Scalar:
    """Returns the value of a plain scalar. Raises `UnreadableNumber` for infinities, NaN and integers beyond all bounds."""
    if text in WORDS:
        return WORDS[text]
    first = text[0]
    if first not in "0123456789+-.":
        return text
    if text in NOT_FINITE:
        raise UnreadableNumber(f"{text} is not a number that JSON can hold; quote it if it is meant as text")
    # After a leading dot an underscore must stand between digits, for Go as for Python; in every other number it may stand anywhere.
    digits = text if first == "." else text.replace("_", "")
    unsigned = digits[1:] if first in "+-" else digits
    if not unsigned or not unsigned.isascii():
        return text
    if unsigned.isdigit():
        return _decimal_or_octal(digits, unsigned)
    if unsigned[:2].lower() in ("0x", "0o", "0b"):
        return _prefixed(text, digits, unsigned)
    return _float(text, digits)


def key_text(value: object) -> str | None:
    """Returns a mapping key as kubectl converts it: numbers and booleans become text; None for a value that cannot be a key."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


def _decimal_or_octal(digits: str, unsigned: str) -> int:
    _check_length(digits)
    octal = len(unsigned) > 1 and unsigned[0] == "0" and "8" not in unsigned and "9" not in unsigned
    return int(digits, 8 if octal else 10)


def _prefixed(text: str, digits: str, unsigned: str) -> Scalar:
    if not unsigned.isalnum():
        return text
    try:
        value = int(digits[:MAX_NUMBER_LENGTH], 0)
    except ValueError:
        return text
    _check_length(digits)
    return value


def _float(text: str, digits: str) -> Scalar:
    if not _FLOAT_CHARACTERS.issuperset(digits):
        return text
    try:
        value = float(digits)
    except ValueError:
        return text
    if value in (float("inf"), float("-inf")):
        return text  # Go rejects it as a number too, and so an abbreviated commit such as 4e53730 stays text
    # Go writes a whole float without a point, so what kubectl sends for 2.0 or 1e3 is an integer.
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _check_length(digits: str) -> None:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise UnreadableNumber(f"{shorten(digits)} has {len(digits)} digits, too many for a number; quote it if it is meant as text")


def shorten(text: str) -> str:
    """Returns the text for a message: its first 40 characters, when it is longer."""
    return text if len(text) <= 40 else f"{text[:40]}…"
