"""Holds what has to be true of every random example: each example is made once for all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Properties(Generic[P]):
    """Collects the functions that it decorates, whose names say what has to be true."""

    def __init__(self) -> None:
        self._all: list[Callable[P, None]] = []

    def __call__(self, holds: Callable[P, None]) -> Callable[P, None]:
        self._all.append(holds)
        return holds

    def check(self, *example: P.args, **named: P.kwargs) -> None:
        """Looks at all of an example. Raises `AssertionError` with everything that is not true of it."""
        wrong: list[str] = []
        first: Exception | None = None
        for holds in self._all:
            try:
                holds(*example, **named)
            except Exception as error:
                wrong.append(f"{holds.__name__.replace('_', ' ')}: {type(error).__name__}: {error}")
                first = first or error
        if wrong:
            raise AssertionError("\n".join(["this does not hold:", *wrong])) from first
