"""Reads the annotations of the model's classes and functions, from which the types of all expressions follow."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from typing import Any

from grove_compiler.engine.expressions.parameters import Words


class UnknownType(TypeError):
    """Reports an annotation of the model that cannot be resolved; were it ignored, expressions would silently go unchecked."""


def attribute(owner: type, name: str) -> Any:
    """Returns the type of an attribute or property of a model class. Raises `AttributeError` when the class has none of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    hints = _hints(owner)
    if name in hints:
        return hints[name]
    member = inspect.getattr_static(owner, name)
    if isinstance(member, property):
        return result(member.fget)
    if isinstance(member, functools.cached_property):
        return result(member.func)
    raise AttributeError(name)


def method(owner: type, name: str) -> Any:
    """Returns the return type of a public method of a model class. Raises `AttributeError` when there is none of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    member = inspect.getattr_static(owner, name)
    if not isinstance(member, types.FunctionType):
        raise AttributeError(name)
    return result(member)


def result(function: Any) -> Any:
    """Returns a function's annotated return type; `Any` when it has none."""
    return _hints(function).get("return", Any)


def parameters(function: Any, words: Words) -> dict[str, Any]:
    """Returns the types of a function's parameters in order, by what rules call them."""
    hints = _hints(function)
    return {words.get(name, name): hints.get(name, Any) for name in inspect.signature(function).parameters}


def public_names(owner: type) -> list[str]:
    """Lists the attributes, properties and methods that rules may use, for suggestions and the reference."""
    names = dict.fromkeys(_hints(owner))
    for name in dir(owner):
        if isinstance(inspect.getattr_static(owner, name, None), property | functools.cached_property | types.FunctionType):
            names[name] = None
    return [name for name in names if not name.startswith("_")]


@functools.cache
def _hints(owner: Any) -> dict[str, Any]:
    """Returns the resolved annotations of a class or a function; empty for builtins, which have none."""
    try:
        return typing.get_type_hints(owner)
    except TypeError:  # some of Python's own functions have none
        return {}
    except NameError as error:
        where = f"{owner.__module__}.{owner.__qualname__}"
        raise UnknownType(f"an annotation of {where} names {error.name!r}, which its module does not import") from None
