"""Attributes, items and functions whose values are worked out when somebody first asks, and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar, overload

T = TypeVar("T")
Owner = TypeVar("Owner")

FOLLOWER = "follower()"
"""An entry of an instance's `__dict__` that no attribute has: who works its lazy attributes out, each time somebody reads one.

`explain` puts it into its copies of the model. Only a read that would compute looks for it, so nobody else pays.
"""

if TYPE_CHECKING:
    from functools import cached_property as lazy
else:

    class lazy(cached_property):
        """`functools.cached_property` without its lock, which costs more than most of what the model computes (Python 3.11)."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if FOLLOWER in values:
                return values[FOLLOWER](instance, self)
            value = values[self.attrname] = self.func(instance)
            return value


def remembered(function: Callable[[Owner], T]) -> Callable[[Owner], T]:
    """Keeps what a function of one object of the model returns in that object, as if it were an attribute of it.

    So rules may call `pods(clique)` as often as they like, and the class of a clique need not know what a pod is. It is a `lazy` under
    another name: who follows what lazy attributes read follows these functions as well.
    """
    descriptor = lazy(function)
    key = descriptor.attrname = f"{function.__name__}()"  # no attribute can have this name

    @wraps(function)
    def recall(owner: Owner) -> T:
        memory: dict[str, T] = owner.__dict__
        if key in memory:
            return memory[key]
        if FOLLOWER in memory:
            return descriptor.__get__(owner)
        value = memory[key] = function(owner)  # as the descriptor does: its call was 1 % of a compilation
        return value

    return recall


def is_draft(instance: Any, owner: Any) -> bool:
    """Tells whether an instance of the model is only made to be copied by who follows what is read; `owner` is what it is a part of.

    What others work out at once, since it is quicker than lazily (5 % of a compilation), a draft leaves to its copy: else whatever
    makes it would seem to rest on that.
    """
    return FOLLOWER in owner.__dict__ and FOLLOWER not in instance.__dict__


class MadeOnDemand(Sequence[T]):
    """Holds so many items, each of which `make` makes from its index when it is first asked for, and never twice.

    A step for one replica of a set with thousands of them asks for that one alone.
    """

    __slots__ = ("_all", "_count", "_made", "_make")

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = max(count, 0), make
        self._made: dict[int, T] = {}
        self._all: list[T] = []  # all of them, once they are made: nearly every rule goes through the replicas of a set

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        if len(self._made) < self._count:
            return map(self.__getitem__, range(self._count))  # the loop of `Sequence` asks until it fails, which takes twice as long
        if len(self._all) < self._count:
            self._all = [self._made[index] for index in range(self._count)]
        return iter(self._all)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[each] for each in range(self._count)[index]]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        item = self._made.get(index)
        if item is None:
            item = self._made[index] = self._make(index)
        return item


__all__ = ["FOLLOWER", "MadeOnDemand", "is_draft", "lazy", "remembered"]
