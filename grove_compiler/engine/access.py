"""How compiled expressions reach into values: fields, items, text and the operators that need a guard.

On manifests an absent field reads as none, and a field of none reads as none. Model classes are checked when rules are loaded, so
that these functions see them only behind an optional type.
"""

from __future__ import annotations

from typing import Any

LARGEST_REPEAT = 100_000


class EvaluationError(Exception):
    """An expression that cannot be evaluated. The program adds the rule, its file and its line."""


def get_field(value: Any, name: str) -> Any:
    """`value.name`: a mapping's entry or a model's attribute; none for what is absent, or when `value` is none."""
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(name)
    if type(value).__module__ == "builtins":
        raise EvaluationError(f"{describe(value)} has no field {name!r}")
    try:
        return getattr(value, name)
    except AttributeError:
        raise EvaluationError(f"{type(value).__name__} has no attribute {name!r}") from None


def get_item(value: Any, key: Any) -> Any:
    """`value[key]`, with a slice for `value[a:b]`; none when it is not there, or when `value` is none."""
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list | tuple | str):
        try:
            return value[key]
        except IndexError:
            return None
        except TypeError:
            raise EvaluationError(f"{describe(value)} cannot be indexed by {describe(key)}") from None
    raise EvaluationError(f"{describe(value)} has no items")


def contains(item: Any, container: Any) -> bool:
    """`item in container`; nothing is in none."""
    if container is None:
        return False
    try:
        return item in container
    except TypeError:
        raise EvaluationError(f"cannot look for {describe(item)} in {describe(container)}") from None


def as_text(value: Any) -> str:
    """A value inside text. None is an error: a name with `None` in it is never what anybody meant."""
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

        return json.dumps(value, default=str)
    if value is None:
        raise EvaluationError("none cannot stand inside text; say `x or ''`, or guard it with `when`")
    return str(value)


def each(value: Any) -> Any:
    """What a loop runs over: none is an empty list, text and mappings are mistakes."""
    if value is None:
        return ()
    if isinstance(value, str | dict | int | float):
        raise EvaluationError(f"cannot loop over {describe(value)}" + ("; say `| items` or `| keys`" if isinstance(value, dict) else ""))
    return value


def multiply(left: Any, right: Any) -> Any:
    """`left * right`, with a bound on repeated text and lists."""
    for count, other in ((left, right), (right, left)):
        if isinstance(other, str | list) and isinstance(count, int) and count * max(len(other), 1) > LARGEST_REPEAT:
            raise EvaluationError(f"repeating {describe(other)} {count} times makes more than {LARGEST_REPEAT} items")
    return left * right


def power(left: Any, right: Any) -> Any:
    """`left ** right`, for numbers of a sane size."""
    if not isinstance(left, int | float) or not isinstance(right, int | float) or abs(left) > 2**32 or abs(right) > 64:
        raise EvaluationError(f"{left!r} ** {right!r} is out of bounds: at most 2**32 to the power of 64")
    return left**right


def bounded_range(*bounds: int) -> range:
    """Python's `range`, with a bound on its length."""
    numbers = range(*bounds)
    if len(numbers) > LARGEST_REPEAT:
        raise EvaluationError(f"range of {len(numbers)} numbers; at most {LARGEST_REPEAT}")
    return numbers


def describe(value: Any) -> str:
    """The kind of a value in the words of YAML: `a list`, `text`, `none`."""
    if value is None:
        return "none"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", tuple: "a list", dict: "a map"}
    return names.get(type(value), type(value).__name__)
