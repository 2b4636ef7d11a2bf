"""Tells whether names fit globs, as Helm values write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Tells whether a name fits one of the globs: `*` is any text, `?` any character, all else itself."""
    return any(_pattern(glob).fullmatch(name) for glob in patterns)


@lru_cache(maxsize=200)
def _pattern(glob: str) -> re.Pattern[str]:
    squeezed = re.sub(r"\*+", "*", glob)  # stars beside one another mean one, and would take exponential time
    return re.compile("".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in squeezed), re.DOTALL)
