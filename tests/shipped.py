"""What the rules that ship decide, for tests of the model alone."""

from __future__ import annotations

from functools import cache

from grove_compiler.compile import VOCABULARY
from grove_compiler.model.decisions import Decisions
from grove_operator import rulebook


@cache
def decisions() -> Decisions:
    """The decisions of `rules/`."""
    return Decisions(rulebook.read().program(VOCABULARY).decisions)
