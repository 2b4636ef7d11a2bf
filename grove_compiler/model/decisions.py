"""Lets the model call rules: behaviour that users may replace is decided in `rules/`, on facts that the model provides.

Decisions are declared as static methods of a protocol beside the facts that they are about, and the protocol is listed in the vocabulary.
The rule with `decide: <name>` is what runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import Any, TypeVar

from grove_compiler.record import record

D = TypeVar("D")


@record
class DecisionRules:
    """Holds the functions that the `decide` rules of a program became, by the name of the decision."""

    rules: Any = field(default_factory=SimpleNamespace)

    def of(self, _: Callable[..., D]) -> D:
        """Returns the rules as what a protocol declares. Without rules, its methods raise `AttributeError`."""
        rules: D = self.rules
        return rules


def decisions_of(*protocols: type) -> dict[str, Callable[..., Any]]:
    """Returns the static methods of protocols by name: what there is to decide."""
    members = {name: member for protocol in protocols for name, member in vars(protocol).items() if not name.startswith("_")}
    return {name: member.__func__ for name, member in sorted(members.items()) if isinstance(member, staticmethod)}
