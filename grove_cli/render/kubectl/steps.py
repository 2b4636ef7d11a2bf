"""Implements the steps of a JSONPath expression in kubectl's dialect, each a function from a list of values to another.

A field that a value lacks has no value, as with kubectl's `--allow-missing-template-keys`. Every step may raise `InvalidExpression`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grove_cli.render.kubectl.values import InvalidExpression

Values = list[Any]
Step = Callable[[Values], Values]
Path = Sequence[Step]

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
GO_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64", dict: "map[string]interface {}"}


def follow(path: Path, values: Values) -> Values:
    """Returns the values at a path."""
    for step in path:
        values = step(values)
    return values


def field(name: str) -> Step:
    """Selects a field of maps."""
    return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]


def literal(constant: Any) -> Step:
    """Yields a constant for each value."""
    return lambda values: [constant for _ in values]


def wildcard(values: Values) -> Values:
    """Selects the items of lists, and the values of maps by their keys."""
    return [part for value in values for part in _parts(value)]


def descendants(values: Values) -> Values:
    """Selects the values with all maps and lists in them, at any depth."""
    found: Values = []
    for value in values:
        if parts := list(_parts(value)):
            found += [value, *descendants(parts)]
    return found


def union(paths: Sequence[Path]) -> Step:
    """Selects what any of several paths selects."""
    return lambda values: [found for path in paths for found in follow(path, values)]


def index(number: int) -> Step:
    """Selects one item of lists; a negative number counts from the end."""
    return lambda values: [item for value in _lists(values) for item in _between(value, number, number + 1 or None, 1)]


def between(start: int | None, end: int | None, step: int | None) -> Step:
    """Selects a slice of lists."""
    if step is not None and step <= 0:
        raise InvalidExpression("step must be > 0")
    return lambda values: [item for value in _lists(values) for item in _between(value, start or 0, end, step or 1)]


def having(path: Path) -> Step:
    """Selects the items of lists in which a path has a value."""

    def select(values: Values) -> Values:
        return [item for value in _lists(values, " and cannot be filtered") for item in value if follow(path, [item])]

    return select


def comparing(left: Path, sign: str, right: Path) -> Step:
    """Selects the items of lists for which a comparison is true; not those that lack a side of it."""
    if sign not in COMPARISONS:
        raise InvalidExpression(f"unrecognized filter operator {sign}")

    def holds(item: Any) -> bool:
        sides = [follow(path, [item]) for path in (left, right)]
        if any(len(side) > 1 for side in sides):
            raise InvalidExpression("can only compare one element at a time")
        return all(sides) and _compare(sign, *(side[0] for side in sides))

    return lambda values: [item for value in _lists(values, " and cannot be filtered") for item in value if holds(item)]


def _compare(sign: str, left: Any, right: Any) -> bool:
    numbers = all(isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right))
    if not numbers and type(left) is not type(right):
        raise InvalidExpression("incompatible types for comparison")
    if not numbers and not isinstance(left, str) and not (isinstance(left, bool) and sign in ("==", "!=")):
        raise InvalidExpression("invalid type for comparison")
    return COMPARISONS[sign](left, right)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (value[key] for key in sorted(value))
    return value if isinstance(value, list) else ()


def _lists(values: Values, end: str = "") -> Iterable[list[Any]]:
    for value in values:
        if isinstance(value, list):
            yield value
        elif value is not None:
            raise InvalidExpression(f"{GO_TYPES.get(type(value), type(value).__name__)} is not array or slice{end}")


def _between(items: list[Any], start: int, end: int | None, step: int) -> Sequence[Any]:
    """Returns a slice. Unlike Python, Go rejects bounds that are not there."""
    size = len(items)
    first = start + size if start < 0 else start
    last = size if end is None else end + size if end < 0 else end
    if first == last:
        return ()
    if not 0 <= first < size:
        raise InvalidExpression(f"array index out of bounds: index {first}, length {size}")
    if not 0 <= last <= size:
        raise InvalidExpression(f"array index out of bounds: index {last - 1}, length {size}")
    if first > last:
        raise InvalidExpression(f"starting index {first} is greater than ending index {last}")
    return items[first:last:step]
