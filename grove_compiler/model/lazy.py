"""Provides attributes, items and functions whose values are computed on first use and then cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar, overload

T = TypeVar("T")
Owner = TypeVar("Owner")

READ_TRACKER = "tracker()"
"""The key in an instance's `__dict__` of a function that computes its lazy attributes instead, at every read. No attribute has this name.

`explain` sets it on its copies of the model. Only a read that would compute looks for it, so all others cost nothing more.
"""

if TYPE_CHECKING:
    from functools import cached_property as lazy
else:

    class lazy(cached_property):
        """Is `functools.cached_property` without its lock, which costs more than most of what the model computes (Python 3.11)."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if READ_TRACKER in values:
                return values[READ_TRACKER](instance, self)
            value = values[self.attrname] = self.func(instance)
            return value


def memoized(function: Callable[[Owner], T]) -> Callable[[Owner], T]:
    """Caches the result of a function of one model object in that object, as if it were an attribute of it.

    So rules may call `pods(clique)` as often as they like, and the class of a clique need not know what a pod is. It is a `lazy` under
    another name, so that whatever tracks the reads of lazy attributes tracks these functions as well.
    """
    descriptor = lazy(function)
    key = descriptor.attrname = f"{function.__name__}()"  # no attribute can have this name

    @wraps(function)
    def cached(owner: Owner) -> T:
        memory: dict[str, T] = owner.__dict__
        if key in memory:
            return memory[key]
        if READ_TRACKER in memory:
            return descriptor.__get__(owner)
        value = memory[key] = function(owner)  # as the descriptor does: its call was 1 % of a compilation
        return value

    return cached


def is_untracked(instance: Any, owner: Any) -> bool:
    """Reports whether an instance is only created to be copied by `explain`, which tracks reads; `owner` is the object that it is part of.

    Some fields are computed eagerly, which is faster than lazily (5 % of a compilation). Such an instance leaves them to its copy, or
    whatever creates it would seem to depend on everything that they read.
    """
    return READ_TRACKER in owner.__dict__ and READ_TRACKER not in instance.__dict__


class LazySequence(Sequence[T]):
    """Is a sequence of `count` items, each created by `create` from its index on first access, and cached.

    A step for one replica of a set with thousands of them creates only that one.
    """

    __slots__ = ("_all", "_count", "_create", "_items")

    def __init__(self, count: int, create: Callable[[int], T]) -> None:
        self._count, self._create = max(count, 0), create
        self._items: dict[int, T] = {}
        self._all: list[T] = []  # all items, once they are created: nearly every rule iterates over the replicas of a set

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        if len(self._items) < self._count:
            return map(self.__getitem__, range(self._count))  # twice as fast as `Sequence.__iter__`, which indexes until IndexError
        if len(self._all) < self._count:
            self._all = [self._items[index] for index in range(self._count)]
        return iter(self._all)

    def created(self) -> list[T]:
        """Returns the items that were created."""
        return list(self._items.values())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[position] for position in range(self._count)[index]]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = self._create(index)
        return item


__all__ = ["READ_TRACKER", "LazySequence", "is_untracked", "lazy", "memoized"]
