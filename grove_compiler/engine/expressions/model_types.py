"""Reads the annotations of the model's classes and functions, from which the types of all expressions follow.

Parameters are named as rules do: mostly as in Python, except where a word of rules is also a function of Python's.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

Words = Mapping[str, str]
"""What rules call a parameter, by its name in Python, where the two differ: `{"pcs": "set"}`."""


def signature_in_rules(function: Callable[..., Any], words: Words) -> inspect.Signature:
    """Returns a function's signature with the words of rules. Raises `ValueError` for a function of Python's own without one."""
    signature = inspect.signature(function)
    named = [parameter.replace(name=words.get(name, name)) for name, parameter in signature.parameters.items()]
    return signature.replace(parameters=named)


def python_name(word: str, function: Callable[..., Any] | None, words: Words) -> str:
    """Returns Python's name of the parameter that rules call `word`; the word itself where nothing of that kind is called."""
    if word not in words.values() or not callable(function):
        return word
    return next((name for name in inspect.signature(function).parameters if words.get(name, name) == word), word)


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
