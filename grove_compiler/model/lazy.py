"""Attributes that are worked out when somebody first asks.

What most rules make for a replica of a set does not depend on how many replicas there are, so it need not be made again when only
their number changes. To be sure of that, every look at the number leaves a mark (`look`), and what is worked out with a look is not
remembered here: whoever asks for it looks again.
"""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

_numbers = count()
_last = [next(_numbers)]


def look() -> None:
    """Leaves a mark: somebody learns of a number of replicas. No mark ever returns, and looks of other threads count as well."""
    _last[0] = next(_numbers)


def mark() -> object:
    """The mark of the last look."""
    return _last[0]


if TYPE_CHECKING:
    from functools import cached_property as lazy
else:

    class lazy(cached_property):
        """`functools.cached_property` without its lock, which costs more than most of what the model computes (Python 3.11)."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            before = _last[0]
            value = self.func(instance)
            if before == _last[0]:
                instance.__dict__[self.attrname] = value
            return value


__all__ = ["lazy", "look", "mark"]
