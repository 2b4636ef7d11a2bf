"""Which names an expression may use, how deep each is bound, and what is known of its type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Name:
    """A name in scope: the Python expression that holds it, its type, its depth, and whether it may stand for `omit`.

    Depth 0 are the roots, depth n what the nth loop of the rule binds. Deeper names change more often.
    """

    python: str
    type: Any = Any
    depth: int = 0
    may_omit: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """Names by the word that rules use."""

    names: dict[str, Name] = field(default_factory=dict)

    def with_name(self, word: str, name: Name) -> Scope:
        """This scope and one name more."""
        return Scope({**self.names, word: name})
