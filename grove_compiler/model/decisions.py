"""Lets the model call rules: behaviour that users may replace is decided in `rules/`, on facts that the model provides.

A decision is declared as a typed Python function beside the facts that it is about, and listed in the vocabulary. Its body never runs:
the rule with `decide: <name>` runs instead.
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
    """Holds the functions that the `decide` rules of a program became, by the name of the decision."""

    rules: SimpleNamespace = field(default_factory=SimpleNamespace)

    def of(self, decision: Callable[P, R]) -> Callable[P, R]:
        """Returns the rule that makes a decision, with the signature of its declaration. Raises `AttributeError` without rules."""
        rule: Callable[P, R] = getattr(self.rules, decision.__name__)
        return rule
