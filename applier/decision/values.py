"""When two values are one to the server: as it compares them, and as it writes them after reading them into Go types."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

_SCALES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1), "k": Decimal("1e3"), "M": Decimal("1e6"),
    "G": Decimal("1e9"), "T": Decimal("1e12"), "P": Decimal("1e15"), "E": Decimal("1e18"), "Ki": Decimal(2**10), "Mi": Decimal(2**20),
    "Gi": Decimal(2**30), "Ti": Decimal(2**40), "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip
_SIX_DIGITS = re.compile(r"\.\d{6}(?:Z|[+-]\d\d:\d\d)$")
_EMPTY: tuple[Any, ...] = (None, False, 0, "", {}, [])


def equal(first: Any, second: Any) -> bool:
    """Equal as structured-merge-diff's values are: numbers by size, and no number is a boolean."""
    return bool(first == second) and _alike(first, second)


def _alike(first: Any, second: Any) -> bool:
    """Whether two values that Python calls equal have booleans in the same places, for to Python they are numbers."""
    kind = first.__class__
    if kind is str:
        return True
    if kind is list:
        return all(one.__class__ is str or _alike(one, other) for one, other in zip(first, second, strict=True))
    if kind is dict:
        return all(value.__class__ is str or _alike(value, second[key]) for key, value in first.items())
    return kind is second.__class__ or (kind is not bool and second.__class__ is not bool)


def is_empty(value: Any) -> bool:
    """Whether a Go field that is left out when empty would leave this value out."""
    return any(value is one or (value.__class__ is one.__class__ and value == one) for one in _EMPTY)


def same_form(form: str, first: Any, second: Any) -> bool:
    """Whether two unequal values of a form (see `Type.form`) are written alike by the server."""
    reader = _READERS.get(form)
    if reader is None:
        return False
    try:
        return bool(reader(first) == reader(second))
    except (ValueError, ArithmeticError, TypeError):
        return False


def quantity(value: Any) -> tuple[Decimal, str]:
    """A resource quantity: its size, rounded up to nano as the server does, and its family of suffixes. Raises ValueError.

    The family counts because the server keeps it: `1024` stays `1024` and does not become `1Ki`.
    """
    text = str(value)
    digits = text.rstrip("".join(sorted({letter for suffix in _SCALES for letter in suffix})))
    suffix = text[len(digits) :]
    number, exponent, power = text.lower().partition("e")
    if exponent and power.lstrip("+-").isdigit():
        digits, suffix, family = f"{number}e{power}", "", "exponent"
    else:
        family = "binary" if suffix.endswith("i") else "decimal"
    if suffix not in _SCALES:
        raise ValueError(f"no quantity: {text}")
    try:
        size = (Decimal(digits) * _SCALES[suffix]).quantize(Decimal("1e-9"), rounding=ROUND_CEILING)
    except InvalidOperation as error:
        raise ValueError(f"no quantity: {text}") from error
    return size, family if abs(size) >= 1024 or family != "binary" else "decimal"


def _seconds(value: Any) -> datetime:
    return _moment(value).replace(microsecond=0)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(str(value))
    if moment.tzinfo is None:
        raise ValueError(f"no time zone: {value}")
    return moment.astimezone(UTC)


def _microseconds(value: Any) -> datetime:
    """Go reads six digits of a fraction, no more and no less, and refuses anything else."""
    if not _SIX_DIGITS.search(str(value)):
        raise ValueError(f"no microseconds: {value}")
    return _moment(value)


def decoded(value: Any) -> bytes:
    """Base64 as Go reads it: line ends do not count, everything else does. Raises ValueError."""
    try:
        return base64.b64decode(str(value).replace("\n", "").replace("\r", ""), validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error


_READERS: dict[str, Any] = {"quantity": quantity, "time": _seconds, "micro-time": _microseconds, "bytes": decoded}
