"""Describes compiled expressions and the names in scope: the depth at which each is bound, and its inferred type."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from grove_compiler.record import record


@record
class Code:
    """Holds a compiled expression, or the expression for a name in scope.

    It has the Python source, the inferred type, the depth of the deepest name in it, and whether it may be `omit`. Depth 0 are the roots,
    depth n the names bound by the nth loop of the rule. It determines the outermost loop in which a part of a template can be built.
    """

    python: str
    type: Any = Any
    depth: int = 0
    may_omit: bool = False
    is_constant: bool = False

    @property
    def is_literal(self) -> bool:
        """Whether it is a plain text or a whole number, written out."""
        return re.fullmatch(r"'[^'\\]*'|\d+", self.python) is not None

    @property
    def varies(self) -> bool:
        """Whether its value may vary: it is neither a constant nor a literal argument of a part."""
        return not self.is_constant and not self.is_literal

    @property
    def calls(self) -> bool:
        """Whether evaluating it does real work, so that it is worth doing once."""
        return "(" in self.python


@record
class Scope:
    """Maps the words that rules may use to their compiled form. Immutable: a binding makes a new scope."""

    names: dict[str, Code] = field(default_factory=dict)

    def with_name(self, word: str, name: Code) -> Scope:
        """Returns a copy of this scope with one more name."""
        return Scope({**self.names, word: name})

    def is_constant(self, word: str) -> bool:
        """Whether the name is a constant. Nothing may shadow one, as templates resolve constants before other names are known."""
        return word in self.names and self.names[word].is_constant


def variable(word: str) -> str:
    """Returns the Python variable for a word that rules bind; the prefix keeps it apart from keywords and the runtime's names."""
    return f"v_{word}"


def named(word: str, kind: Any, depth: int) -> Code:
    """Returns the code that reads a bound word."""
    return Code(variable(word), kind, depth)
