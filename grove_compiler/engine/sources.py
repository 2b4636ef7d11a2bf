"""What the engine is given: rule and template texts, and the names that they may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic


class RuleSource(NamedTuple):
    """One file of rules or one template.

    `file` tells which by its first folder, `rules/` or `templates/`, and is how errors name it. `origin` says whose it is: `grove`
    for what ships, otherwise the user's folder.
    """

    file: str
    text: str
    origin: str

    @property
    def is_template(self) -> bool:
        return self.file.startswith("templates/")

    @property
    def template_name(self) -> str:
        """What `generate` calls it."""
        return self.file.removeprefix("templates/")


@dataclass(slots=True, eq=False)
class Vocabulary:
    """The names that rules may use besides their own.

    `roots` maps each name to its Python type, from which the types of all attributes follow; `functions` are pure and may be called
    as `name(x, …)` or as a filter, `x | name(…)`. `update_roots` are in scope only of validations on update.
    """

    roots: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    update_roots: Mapping[str, Any] = field(default_factory=dict)


class InvalidRules(Exception):
    """Rules or templates that cannot be used. `diagnostics` holds every reason, with file and line."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        super().__init__("; ".join(f"{finding.place}: {finding.message}" for finding in diagnostics))
