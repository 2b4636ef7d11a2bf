"""Matches names against the globs of the Helm values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Reports whether a name matches one of the globs: `*` matches any text, `?` any character, everything else itself."""
    return _compiled(tuple(patterns)).fullmatch(name) is not None


@lru_cache(maxsize=200)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Compiles all globs to one expression: a pod may have many variables, and admission should be fast."""
    return re.compile("|".join(map(_expression, globs)) if globs else r"(?!)", re.DOTALL)


def _expression(glob: str) -> str:
    squeezed = re.sub(r"\*+", "*", glob)  # consecutive stars mean the same as one, and would take exponential time
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in squeezed)
