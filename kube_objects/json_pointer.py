"""Reads and writes JSON pointers (RFC 6901), and values at them: `/metadata/labels/example.com~1team`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1000)
def split(pointer: str) -> tuple[str, ...]:
    """Returns the steps of a pointer, unescaped: `/a~1b/0` has `a/b` and `0`; the empty pointer has none."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def join(steps: Iterable[str | int], pointer: str = "") -> str:
    """Returns the pointer that continues another one, by default that of the whole document, by these keys and indices."""
    return pointer + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def is_index(step: str) -> bool:
    """Reports whether a step is an index as RFC 6901 writes them: digits without leading zeros."""
    return step.isascii() and step.isdigit() and (step == "0" or step[0] != "0")


def at(value: Any, pointer: str, default: Any = None) -> Any:
    """Returns the value at a pointer; the default where there is none, or null."""
    for step in split(pointer):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return default
    return default if value is None else value
