"""A rule as it is written: an id, a line of documentation, one verb and its keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.language.keys import Verb
from grove_compiler.engine.language.rule_file import RuleFile
from grove_compiler.engine.language.template_ast import Field, Literal, MapShape
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic


@dataclass(slots=True, eq=False)
class Rule:
    """One document of a rules file. `keys` holds it as read; `source` knows the lines.

    `usable` is false when its form is wrong; then it is there only so that others may name it.
    """

    id: str
    doc: str
    verb: Verb
    keys: dict[str, Any]
    origin: str
    source: RuleFile
    usable: bool = True

    @property
    def line(self) -> int:
        """The line of its id."""
        return self.source.line(("rule",))

    def about(self, subjects: Iterable[str]) -> list[str]:
        """The kinds of input that it is about: those that it names, else the first. Defaults see no kind but their manifest."""
        return [] if self.verb == "default" else self.words("about") or list(subjects)[:1]

    def expressions(self, key: str) -> list[str]:
        """A key that holds an expression or a list of them."""
        value = self.keys.get(key)
        if value is None:
            return []
        return [str(_boolean(part)) for part in (value if isinstance(value, list) else [value])]

    def named(self, key: str) -> dict[str, str]:
        """A key that holds names and expressions."""
        value = self.keys.get(key) or {}
        return {str(name): str(_boolean(expression)) for name, expression in value.items()} if isinstance(value, dict) else {}

    def is_sliced(self, vocabulary: Vocabulary) -> bool:
        """Tells whether its outermost loop runs over the slices of the input, so that it can be evaluated for one of them alone."""
        outermost = next(iter(self.named("forEach").values()), "")
        return self.verb in ("generate", "condition") and bool(vocabulary.slices) and "".join(outermost.split()) == vocabulary.slices

    def words(self, key: str) -> list[str]:
        """A key that holds a word or a list of them."""
        value = self.keys.get(key)
        return [str(part) for part in (value if isinstance(value, list) else [] if value is None else [value])]


@dataclass(slots=True, eq=False)
class Template:
    """One template: its shape, and the kind of object that it makes. `usable` is false when its form is wrong."""

    name: str
    shape: MapShape
    source: RuleFile
    usable: bool = True

    @property
    def kind(self) -> str:
        """The `kind` that it writes; empty when that is an expression."""
        kind = self.field("kind")
        return str(kind.value.value) if kind and isinstance(kind.value, Literal) else ""

    def field(self, key: str) -> Field | None:
        """The entry of the outermost map that has this key."""
        return find_field(self.shape, key)


@dataclass(slots=True, eq=False)
class RuleSet:
    """All rules and templates in force, in the order in which they are written, and everything that was found wrong with them.

    `disabled` are the ids that were taken out. Every rule's file adds to `problems` what compiling it brings to light.
    """

    rules: list[Rule] = field(default_factory=list)
    templates: dict[str, Template] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def find_field(shape: MapShape, key: str) -> Field | None:
    """The entry of a map that has this key."""
    for entry in shape.entries:
        if isinstance(entry, Field) and isinstance(entry.key, Literal) and entry.key.value == key:
            return entry
    return None


def _boolean(value: Any) -> Any:
    """YAML's own booleans as the words of expressions."""
    return {True: "true", False: "false", None: "none"}.get(value, value) if isinstance(value, bool | None) else value
