"""`omit`: the value that leaves a key or a list item out."""

from __future__ import annotations


class _Omit:
    """A single value, false in conditions, so that `x or omit` and `omit or x` both read as they look."""

    def __repr__(self) -> str:
        return "omit"

    def __bool__(self) -> bool:
        return False


OMIT = _Omit()
