"""What is known of a value's type when rules are loaded: items, values, none, and whether one type fits another.

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
    """`X | None` as `X`; unions of several types as `Any`."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        return members[0] if len(members) == 1 else Any
    return annotation


def is_optional(annotation: Any) -> bool:
    """Whether none is among the values."""
    return annotation is type(None) or type(None) in typing.get_args(annotation)


def or_none(annotation: Any) -> Any:
    """`X` as `X | None`."""
    return Any if annotation is Any else typing.Optional[annotation]  # noqa: UP045 - built from a value, not written


def is_model(annotation: Any) -> bool:
    """Whether it is a class whose attributes are known: not a scalar, not a container."""
    return isinstance(annotation, type) and annotation.__module__ not in ("builtins", "typing") and not is_mapping(annotation)


def model_within(annotation: Any) -> Any:
    """The class whose instances a value of this type is, or holds, however deep in lists and maps; None where there is none."""
    annotation = without_none(annotation)
    if is_model(annotation):
        return annotation
    return next((found for part in typing.get_args(annotation) if (found := model_within(part)) is not None), None)


def is_mapping(annotation: Any) -> bool:
    """Whether it is a map by annotation: `dict[…]`, `Mapping[…]`."""
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def item_type(annotation: Any) -> Any:
    """What a loop over such a value yields."""
    annotation = without_none(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else Any
    if isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping) and arguments:
        return arguments[0]
    return int if annotation is range else Any


def value_type(annotation: Any) -> Any:
    """What a map of such a type holds."""
    arguments = typing.get_args(annotation)
    return arguments[1] if len(arguments) == 2 else Any


def is_loopable(annotation: Any) -> bool:
    """False only for what certainly cannot be looped over: scalars, maps and single models."""
    annotation = without_none(annotation)
    if annotation is Any:
        return True
    origin = typing.get_origin(annotation) or annotation
    if origin in _SCALARS or is_mapping(annotation):
        return False
    return not isinstance(origin, type) or issubclass(origin, Sequence | Iterator | set | frozenset) or hasattr(origin, "__iter__")


def conflict(given: Any, wanted: Any) -> bool:
    """Whether a value of one type certainly is none of another. None passes for any: what guards leave of it is not followed."""
    given, wanted = without_none(given), without_none(wanted)
    if given is type(None) or Any in (given, wanted):
        return False
    given, wanted = typing.get_origin(given) or given, typing.get_origin(wanted) or wanted
    if not isinstance(given, type) or not isinstance(wanted, type):
        return False
    if bool in (given, wanted):  # Python's booleans are numbers, but nobody who writes one means the other
        return given is not wanted
    alike = any(issubclass(given, group) and issubclass(wanted, group) for group in ((int, float), (list, tuple)))
    return not alike and not issubclass(given, wanted) and not issubclass(wanted, given)


def of_value(value: Any) -> Any:
    """The type of a plain value: lists and maps are of what all of their parts are."""
    if not isinstance(value, list | dict):
        return type(value)
    parts = [of_value(part) for part in (value.values() if isinstance(value, dict) else value)]
    kind = parts[0] if parts and all(part == parts[0] for part in parts) else Any
    return dict[str, kind] if isinstance(value, dict) else list[kind]  # type: ignore[valid-type]


_WORDS = {str: "text", int: "a number", float: "a number", bool: "a boolean", type(None): "none", list: "a list", dict: "a map"}


def words(annotation: Any) -> str:
    """A type as messages name it."""
    kind = without_none(annotation)
    origin = typing.get_origin(kind) or kind
    word = _WORDS.get(origin) or ("a map" if is_mapping(kind) else str(getattr(origin, "__name__", origin)))
    return f"{word} or none" if is_optional(annotation) and kind is not type(None) else word
