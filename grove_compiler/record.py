"""Provides `record`, a dataclass decorator that costs less at start-up.

A command imports some ninety such classes, and `dataclass` compiles two functions for each: 20 of the 45 ms of our imports, although a
compilation instantiates less than half of them and prints none. So all classes share one `__repr__`, and a class gets its `__init__` when
its first instance is created. From then on it is as fast as what `dataclass` generates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T", bound=type)


@overload
def record(cls: T) -> T: ...


@overload
def record(*, slots: bool) -> Callable[[T], T]: ...


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def record(cls: Any = None, *, slots: bool = True) -> Any:
    """Makes a dataclass of a class, as `@dataclass(slots=True, eq=False)` does. Instances compare by identity.

    `slots=False` is for classes with `lazy` attributes or `cached_property`, which need an instance `__dict__`.
    """
    return _decorated(cls, slots) if cls is not None else lambda decorated: _decorated(decorated, slots)


def _decorated(cls: Any, slots: bool) -> Any:
    result: Any = dataclass(init=False, repr=False, eq=False, match_args=False, slots=slots)(cls)
    result.__init__ = _first_init(result)
    if result.__repr__ is object.__repr__:
        result.__repr__ = _repr
    return result


def _first_init(cls: Any) -> Callable[..., None]:
    """Returns the `__init__` of a class until its first instance is created; its first call replaces it by the generated one."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        # A subclass without fields of its own has all of them, and `__post_init__`, by inheritance: its `__init__` is that of the class.
        heir: Any = dataclass(repr=False, eq=False, match_args=False)(type(cls.__name__, (cls,), {}))
        cls.__init__ = heir.__init__
        cls.__init__(self, *args, **kwargs)

    return __init__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
