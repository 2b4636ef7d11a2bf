"""Declares the classes that the compiler is made of: dataclasses that cost less when the program starts.

A command imports some ninety of them, and `dataclass` compiles two functions for each: 20 of the 45 ms that our imports took, though one
compilation makes an instance of less than half of these classes and shows none of them to anybody. So here all classes share one
`__repr__`, and a class gets its `__init__` when its first instance is made. From then on it is what `dataclass` makes, and as fast.
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
    """Makes a dataclass of a class, as `@dataclass(slots=True, eq=False)` does. Instances are equal to themselves alone.

    `slots=False` is for classes whose instances remember what was worked out (`cached_property`).
    """
    return _made(cls, slots) if cls is not None else lambda later: _made(later, slots)


def _made(cls: Any, slots: bool) -> Any:
    made: Any = dataclass(init=False, repr=False, eq=False, match_args=False, slots=slots)(cls)
    made.__init__ = _first_init(made)
    if made.__repr__ is object.__repr__:
        made.__repr__ = _repr
    return made


def _first_init(cls: Any) -> Callable[..., None]:
    """Returns the `__init__` that a class has until its first instance is made, when it is replaced by the one that was asked for."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        # A subclass without fields of its own has all of them, and `__post_init__`, by inheritance: its `__init__` is that of the class.
        heir: Any = dataclass(repr=False, eq=False, match_args=False)(type(cls.__name__, (cls,), {}))
        cls.__init__ = heir.__init__
        cls.__init__(self, *args, **kwargs)

    return __init__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
