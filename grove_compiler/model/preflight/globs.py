"""Tells whether names fit globs, as Helm values write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Tells whether a name fits one of the globs: `*` is any text, `?` any character, all else itself."""
    return _pattern(tuple(patterns)).fullmatch(name) is not None


@lru_cache(maxsize=200)
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all of them: a pod has many variables, and an API server waits."""
    return re.compile("|".join(map(_expression, globs)) if globs else r"(?!)", re.DOTALL)


def _expression(glob: str) -> str:
    squeezed = re.sub(r"\*+", "*", glob)  # stars beside one another mean one, and would take exponential time
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in squeezed)
