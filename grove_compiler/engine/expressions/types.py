"""Answers questions about types when rules are loaded: item and value types, none, and whether one type fits another.

Types are ordinary annotations (`str`, `list[Replica]`, `Gang | None`); `Any` means that nothing is known. Only used on a cold
start, so the imports may be heavy.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_SCALARS = (str, int, float, bool, type(None))


def without_none(annotation: Any) -> Any:
    """Returns `X` for `X | None`, and `Any` for a union of several types."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        return members[0] if len(members) == 1 else Any
    return annotation


def is_optional(annotation: Any) -> bool:
    """Reports whether none is among the values of the type."""
    return annotation is type(None) or type(None) in typing.get_args(annotation)


def or_none(annotation: Any) -> Any:
    """Returns `X | None` for `X`."""
    return Any if annotation is Any else typing.Optional[annotation]  # noqa: UP045 - built from a value, not written


def is_model(annotation: Any) -> bool:
    """Reports whether the type is a class whose attributes are known: neither a scalar nor a container."""
    return isinstance(annotation, type) and annotation.__module__ not in ("builtins", "typing") and not is_mapping(annotation)


def model_within(annotation: Any) -> Any:
    """Returns the model class that the type is, or holds at any depth of lists and maps; None where there is none."""
    annotation = without_none(annotation)
    if is_model(annotation):
        return annotation
    return next((model for part in typing.get_args(annotation) if (model := model_within(part)) is not None), None)


def is_mapping(annotation: Any) -> bool:
    """Reports whether the type is a map: `dict[…]`, `Mapping[…]`."""
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def item_type(annotation: Any) -> Any:
    """Returns the type of the items that a loop over such a value yields; `Any` where it is unknown."""
    annotation = without_none(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else Any
    if isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping) and arguments:
        return arguments[0]
    return int if annotation is range else Any


def value_type(annotation: Any) -> Any:
    """Returns the type of a map's values; `Any` where it is unknown."""
    arguments = typing.get_args(annotation)
    return arguments[1] if len(arguments) == 2 else Any


def is_loopable(annotation: Any) -> bool:
    """Reports whether a loop over the type may work; false only for scalars, maps and single models, where it certainly fails."""
    annotation = without_none(annotation)
    if annotation is Any:
        return True
    origin = typing.get_origin(annotation) or annotation
    if origin in _SCALARS or is_mapping(annotation):
        return False
    return not isinstance(origin, type) or issubclass(origin, Sequence | Iterator | set | frozenset) or hasattr(origin, "__iter__")


def conflict(actual: Any, expected: Any) -> bool:
    """Reports whether a value of the actual type certainly is not one of the expected type.

    None fits every type, because guards (`when: x`) are not followed: an optional value may well have been checked before.
    """
    actual, expected = without_none(actual), without_none(expected)
    if actual is type(None) or Any in (actual, expected):
        return False
    actual, expected = typing.get_origin(actual) or actual, typing.get_origin(expected) or expected
    if not isinstance(actual, type) or not isinstance(expected, type):
        return False
    if bool in (actual, expected):  # Python's booleans are numbers, but nobody who writes one means the other
        return actual is not expected
    alike = any(issubclass(actual, group) and issubclass(expected, group) for group in ((int, float), (list, tuple)))
    return not alike and not issubclass(actual, expected) and not issubclass(expected, actual)


def of_value(value: Any) -> Any:
    """Returns the type of a plain value; a list or map whose parts differ in type holds `Any`."""
    if not isinstance(value, list | dict):
        return type(value)
    parts = [of_value(part) for part in (value.values() if isinstance(value, dict) else value)]
    kind = parts[0] if parts and all(part == parts[0] for part in parts) else Any
    return dict[str, kind] if isinstance(value, dict) else list[kind]  # type: ignore[valid-type]


_WORDS = {str: "text", int: "a number", float: "a number", bool: "a boolean", type(None): "none", list: "a list", dict: "a map"}


def type_name(annotation: Any) -> str:
    """Returns the name of a type in messages: `text`, `a list or none`."""
    kind = without_none(annotation)
    origin = typing.get_origin(kind) or kind
    name = _WORDS.get(origin) or ("a map" if is_mapping(kind) else str(getattr(origin, "__name__", origin)))
    return f"{name} or none" if is_optional(annotation) and kind is not type(None) else name
