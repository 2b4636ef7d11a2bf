"""Attributes that are worked out when somebody first asks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as lazy
else:

    class lazy(cached_property):
        """`functools.cached_property` without its lock, which costs more than most of what the model computes (Python 3.11)."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = self.func(instance)
            instance.__dict__[self.attrname] = value
            return value


__all__ = ["lazy"]
