"""The annotations of the model's classes and functions, from which the types of all expressions follow."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any


class UnknownType(TypeError):
    """An annotation that names what cannot be found: a mistake in the model, which would silently cost checks."""


class Annotations:
    """Reads annotations. `names` are types that a module names without importing them, since that would be a circle of imports."""

    def __init__(self, names: Mapping[str, Any] | None = None) -> None:
        self.names = dict(names or {})
        self._read: dict[Any, dict[str, Any]] = {}

    def attribute(self, owner: type, name: str) -> Any:
        """The type of an attribute or property of a model class. Raises `AttributeError` when the class has none of that name."""
        if name.startswith("_"):
            raise AttributeError(name)
        hints = self._hints(owner)
        if name in hints:
            return hints[name]
        member = inspect.getattr_static(owner, name)
        if isinstance(member, property):
            return self.result(member.fget)
        if isinstance(member, functools.cached_property):
            return self.result(member.func)
        raise AttributeError(name)

    def method(self, owner: type, name: str) -> Any:
        """What a public method of a model class returns. Raises `AttributeError` when there is none of that name."""
        if name.startswith("_"):
            raise AttributeError(name)
        member = inspect.getattr_static(owner, name)
        if not isinstance(member, types.FunctionType):
            raise AttributeError(name)
        return self.result(member)

    def result(self, function: Any) -> Any:
        """What a function returns."""
        return self._hints(function).get("return", Any)

    def parameters(self, function: Any) -> dict[str, Any]:
        """The types of a function's parameters, by name and in order."""
        hints = self._hints(function)
        return {word: hints.get(word, Any) for word in inspect.signature(function).parameters}

    def public_names(self, owner: type) -> list[str]:
        """The attributes and properties that rules may read, for suggestions and the reference."""
        names = dict.fromkeys(self._hints(owner))
        for name in dir(owner):
            if isinstance(inspect.getattr_static(owner, name, None), property | functools.cached_property | types.FunctionType):
                names[name] = None
        return [name for name in names if not name.startswith("_")]

    def _hints(self, owner: Any) -> dict[str, Any]:
        if owner not in self._read:
            self._read[owner] = self._all_hints(owner)
        return self._read[owner]

    def _all_hints(self, owner: Any) -> dict[str, Any]:
        """What a class or a function is annotated with. Its own module comes first: `names` are asked for what that lacks."""
        try:
            return typing.get_type_hints(owner)
        except NameError:
            pass
        except TypeError:  # some of Python's own functions have none
            return {}
        try:
            return typing.get_type_hints(owner, localns=self.names)
        except NameError as error:
            where = f"{owner.__module__}.{owner.__qualname__}"
            raise UnknownType(f"an annotation of {where} names {error.name!r}, which its module does not import") from None
