"""Renders or converts values that are rare in manifests: constants, floats, and subclasses of JSON's types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_JSON = frozenset((str, int, float, bool, dict, list))
# `str(member)` of an enum is its name in the program, not its value.
_CONVERSIONS: dict[type, Callable[[Any], Any]] = {str: str.__str__, int: int, float: float, dict: dict, list: list, tuple: list}


def constant(value: Any) -> str | None:
    """Returns the text of null, booleans, floats and empty containers, the same in YAML and JSON; None for other values."""
    if value is None:
        return "null"
    kind = value.__class__
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return _float(value)
    if not value and kind in (dict, list):
        return "{}" if kind is dict else "[]"
    return None


def as_plain(value: Any) -> Any:
    """Converts a value to JSON's own type: an enum's member to its text, an ordered dict to a dict, a tuple to a list.

    Raises `TypeError` for a value that JSON cannot hold.
    """
    if value is None or value.__class__ in _JSON:
        return value
    for kind, convert in _CONVERSIONS.items():
        if isinstance(value, kind):
            return convert(value)
    raise TypeError(f"a {type(value).__name__} cannot be written: {value!r}")


def _float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        raise ValueError(f"{text} is not a number that JSON can hold")
    mantissa, mark, exponent = text.partition("e")
    # YAML 1.1 takes a number with an exponent for a float only if it has a point as well.
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}"
