"""Parses Go durations, as metav1.Duration does: `4h`, `1h30m`, `-1.5h`, `300ms`.

They are counted in nanoseconds, as Go does.
"""

from __future__ import annotations

from kube_objects.digits import leading_number

MAX_TEXT_LENGTH = 100
MAX_NANOSECONDS = 2**63 - 1

SECOND = 1_000_000_000
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # micro sign
    "μs": 1_000,  # Greek mu
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_EXAMPLES = 'use a value such as "30s", "10m" or "1h30m"'


class DurationError(ValueError):
    """Reports a text that is no duration; the message tells what would be right."""


def parse(text: str) -> int:
    """Returns the nanoseconds that a Go duration stands for; a fraction below one is cut off. Raises DurationError."""
    if len(text) > MAX_TEXT_LENGTH:
        raise DurationError(f'"{text[:40]}..." is longer than {MAX_TEXT_LENGTH} characters; {_EXAMPLES}')
    negative = text[:1] == "-"
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f'"{text}" is not a duration; {_EXAMPLES}')
    total = 0
    while rest:
        amount, rest = _leading_part(rest, text)
        total += amount
    if total > MAX_NANOSECONDS + negative:
        raise DurationError(f'"{text}" is longer than a duration can be, which is about 292 years')
    return -total if negative else total


def seconds(text: str) -> float:
    """Returns the seconds of a Go duration such as `4h0m0s`, `1h30m` or `300ms`."""
    return parse(text) / SECOND


def explain(text: str) -> str:
    """Returns what is wrong with a would-be duration and what would be right, or `""`."""
    try:
        parse(text)
    except DurationError as error:
        return str(error)
    return ""


def _leading_part(rest: str, text: str) -> tuple[int, str]:
    """Returns the nanoseconds of the first number with its unit, and what follows."""
    whole, fraction, after = leading_number(rest)
    if not whole and not fraction:
        raise DurationError(f'"{text}" is not a duration; {_EXAMPLES}')
    end = 0
    while end < len(after) and after[end] not in "0123456789.":
        end += 1
    unit, after = after[:end], after[end:]
    if not unit:
        raise DurationError(f'"{text}" lacks a unit after {whole or "0"}{"." if fraction else ""}{fraction}; {_EXAMPLES}')
    if unit not in _UNITS:
        hint = f"; {whole} days are {int(whole) * 24}h" if unit in ("d", "day", "days") and whole else ""
        raise DurationError(f'"{text}" has the unknown unit "{unit}"; known are h, m, s, ms, us and ns{hint}')
    scale = _UNITS[unit]
    return int(whole or 0) * scale + (int(fraction) * scale // 10 ** len(fraction) if fraction else 0), after
