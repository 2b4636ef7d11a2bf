"""Reads values for compiled expressions: fields, items, text and the operators that need a guard.

On manifests an absent field reads as none, and a field of none reads as none. Model classes are checked when rules are loaded, so
that these functions see them only behind an optional type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_REPEAT = 100_000
MAX_NUMBER = 2**4096
MAX_TEXT = 1 << 20
"""The most characters of a text that a user's expression makes; an API server stores no object of that size."""


class _Omit:
    """Represents the type of `OMIT`, which is false in conditions, so that `x or omit` and `omit or x` both read as they look."""

    def __repr__(self) -> str:
        return "omit"

    def __bool__(self) -> bool:
        return False


OMIT = _Omit()
"""`omit`: the value that leaves a key or a list item out."""


class EvaluationError(Exception):
    """Reports an expression that cannot be evaluated. The program adds the rule, its file and its line."""


def writable(value: Any) -> Any:
    """Returns the value if it can stand in a manifest. Raises `EvaluationError` if it is, or holds, an instance of a model class."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif not (part is None or part is OMIT or isinstance(part, str | int | float)):
            raise EvaluationError(f"{describe(part)} cannot be part of a manifest; use one of its attributes")
    return value


def get_field(value: Any, name: str) -> Any:
    """Evaluates `value.name`: a map's entry or a model's attribute; none for what is absent, or when `value` is none."""
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(name)
    if type(value).__module__ == "builtins":
        raise EvaluationError(f"{describe(value)} has no field {name!r}")
    if name.startswith("_"):
        raise EvaluationError(f"{name!r} begins with an underscore")
    try:
        return getattr(value, name)
    except AttributeError:
        raise EvaluationError(f"{type(value).__name__} has no attribute {name!r}") from None


def get_item(value: Any, key: Any) -> Any:
    """Evaluates `value[key]`, with a slice for `value[a:b]`; none when it is not there, or when `value` is none."""
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(key)
    if value.__class__ is list or isinstance(value, Sequence):  # to ask an abstract class takes long
        try:
            return value[key]
        except IndexError:
            return None
        except TypeError:
            raise EvaluationError(f"{describe(value)} cannot be indexed by {describe(key)}") from None
    raise EvaluationError(f"{describe(value)} has no items")


def contains(item: Any, container: Any) -> bool:
    """Evaluates `item in container`; nothing is in none."""
    if container is None:
        return False
    try:
        return item in container
    except TypeError:
        raise EvaluationError(f"cannot look for {describe(item)} in {describe(container)}") from None


def as_text(value: Any) -> str:
    """Renders a value for insertion into text. None is an error: a name with `None` in it is never intended."""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict | list | tuple):
        import json  # only messages print whole values

        return json.dumps(value, default=describe)
    if value is None:
        raise EvaluationError("none cannot stand inside text; say `x or ''`, or guard it with `when`")
    raise EvaluationError(f"{describe(value)} cannot stand inside text; name one of its attributes")


def each(value: Any) -> Any:
    """Returns what a loop runs over: none is an empty list. Raises `EvaluationError` for text, numbers, maps and sets."""
    if value.__class__ is list:  # nearly always
        return value
    if value is None:
        return ()
    if isinstance(value, str | dict | int | float):
        raise EvaluationError(f"cannot loop over {describe(value)}" + ("; say `| items` or `| keys`" if isinstance(value, dict) else ""))
    if isinstance(value, set | frozenset):
        raise EvaluationError("a set has no order; say `| sort`")
    return value


def multiply(left: Any, right: Any) -> Any:
    """Evaluates `left * right`, with a bound on repeated text and lists."""
    for count, other in ((left, right), (right, left)):
        if isinstance(other, str | list) and isinstance(count, int) and count * max(len(other), 1) > MAX_REPEAT:
            raise EvaluationError(f"repeating {describe(other)} {count} times makes more than {MAX_REPEAT} items")
    product = left * right
    if isinstance(product, int) and abs(product) > MAX_NUMBER:
        raise EvaluationError("a product that is out of bounds: at most 2**4096")
    return product


def power(left: Any, right: Any) -> Any:
    """Evaluates `left ** right`, for numbers of a sane size."""
    if not isinstance(left, int | float) or not isinstance(right, int | float) or abs(left) > 2**32 or abs(right) > 64:
        raise EvaluationError(f"{left!r} ** {right!r} is out of bounds: at most 2**32 to the power of 64")
    result = left**right
    if isinstance(result, complex):
        raise EvaluationError(f"{left!r} ** {right!r} is not a real number")
    return result


def bounded_range(first: int, end: int | None = None, step: int = 1) -> list[int]:
    """`range(end)`, `range(first, end)` or `range(first, end, step)`: whole numbers up to but without `end`, at most 100000."""
    numbers = range(first) if end is None else range(first, end, step)
    try:
        count = len(numbers)
    except OverflowError:
        count = MAX_REPEAT + 1
    if count > MAX_REPEAT:
        raise EvaluationError(f"{numbers!r} has too many numbers; at most {MAX_REPEAT}")
    return list(numbers)


def describe(value: Any) -> str:
    """Names the type of a value in the words of YAML: `a list`, `text`, `none`."""
    if value is None:
        return "none"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", tuple: "a list", dict: "a map"}
    return names.get(type(value), type(value).__name__)
