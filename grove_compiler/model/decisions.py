"""How the model asks rules: behaviour that users may replace is decided in `rules/`, on facts that the model knows.

A decision is declared as a Python function of exact types beside the facts that it is about, and listed in the vocabulary. Its body
never runs: the rule that says `decide: <name>` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import ParamSpec, TypeVar

from grove_compiler.record import record

P = ParamSpec("P")
R = TypeVar("R")


@record
class DecisionRules:
    """The rules of a program that decide something, by the name of the decision."""

    rules: SimpleNamespace = field(default_factory=SimpleNamespace)

    def of(self, decision: Callable[P, R]) -> Callable[P, R]:
        """Returns the rule that takes a decision, to be called as the function that declares it. Raises `AttributeError` without rules."""
        rule: Callable[P, R] = getattr(self.rules, decision.__name__)
        return rule
