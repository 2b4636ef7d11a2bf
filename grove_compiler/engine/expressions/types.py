"""What is known of a value's type when rules are loaded, from the annotations of the model's classes.

Types are ordinary annotations (`str`, `list[Replica]`, `Gang | None`); `Any` means that nothing is known. Only used on a cold
start, so the imports may be heavy.
"""

from __future__ import annotations

import functools
import inspect
import sys
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


def attribute_type(owner: type, name: str) -> Any:
    """The annotation of an attribute or property of a model class. Raises `AttributeError` when the class has none of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    hints = _hints(owner)
    if name in hints:
        return hints[name]
    attribute = inspect.getattr_static(owner, name)
    if isinstance(attribute, property):
        return _returns(attribute.fget)
    if isinstance(attribute, functools.cached_property):
        return _returns(attribute.func)
    raise AttributeError(name)


def method_type(owner: type, name: str) -> Any:
    """What a public method of a model class returns. Raises `AttributeError` when there is none of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    attribute = inspect.getattr_static(owner, name)
    if not isinstance(attribute, types.FunctionType):
        raise AttributeError(name)
    return _returns(attribute)


def result_type(function: Any) -> Any:
    """What a registered function returns, by its annotation."""
    return _returns(function)


def public_names(owner: type) -> list[str]:
    """The attributes and properties that rules may read, for suggestions and the reference."""
    names = dict.fromkeys(_hints(owner))
    for name in dir(owner):
        if isinstance(inspect.getattr_static(owner, name, None), property | functools.cached_property | types.FunctionType):
            names[name] = None
    return [name for name in names if not name.startswith("_")]


@functools.cache
def _hints(owner: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(owner, localns=_namespace(owner.__module__))
    except NameError:
        return {name: Any for base in reversed(owner.__mro__) for name in inspect.get_annotations(base)}


@functools.cache
def _returns(function: Any) -> Any:
    try:
        return typing.get_type_hints(function, localns=_namespace(getattr(function, "__module__", ""))).get("return", Any)
    except (NameError, TypeError):
        return Any


@functools.cache
def _namespace(module: str) -> dict[str, Any]:
    """The classes of the module's package, since annotations may name what is imported for type checkers only."""
    package = ".".join(module.split(".")[:2])
    names: dict[str, Any] = {}
    for name, loaded in list(sys.modules.items()):
        if package and (name == package or name.startswith(package + ".")):
            names.update(_classes(loaded))
    return {**names, **_classes(sys.modules.get(module))}  # a class of the module itself hides those of its neighbours


def _classes(module: types.ModuleType | None) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if isinstance(value, type)} if module else {}
