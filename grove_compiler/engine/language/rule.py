"""Defines rules, templates and constants as they are written in files, and the rule set that holds them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from grove_compiler.engine.language.keys import SLICED_VERBS, Verb
from grove_compiler.engine.language.life import Life
from grove_compiler.engine.language.place import RuleFile, SourceLocation
from grove_compiler.engine.language.template_ast import Expression, Field, Literal, MapNode, TemplateNode
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record


@record
class FileHead:
    """Represents the first document of a rule file, where it says under which conditions all rules of the file apply."""

    keys: dict[str, Any]
    source: RuleFile


@record
class Rule:
    """Represents one rule: an id, a line of documentation, one verb and its keys. `keys` is the document as read; `source` knows its lines.

    `usable` is false when its form is wrong; it is then kept only so that other rules may name it. `life` is the one whose effect it is,
    `head` that of its file.
    """

    id: str
    doc: str
    verb: Verb
    keys: dict[str, Any]
    origin: str
    source: RuleFile
    usable: bool = True
    life: Life | None = None
    head: FileHead | None = None

    @property
    def files(self) -> list[RuleFile]:
        """The documents that the rule consists of: its own, and the head of its file."""
        return [self.source, *([self.head.source] if self.head else [])]

    @property
    def line(self) -> int:
        """The line of the rule's id in its file."""
        return self.source.line(("rule",))

    @property
    def decision(self) -> str:
        """The name of the decision that a `decide` rule makes; empty for other verbs."""
        return str(self.keys["decide"]) if self.verb == "decide" else ""

    @property
    def template(self) -> str:
        """The name of the template that the rule renders; empty for verbs that render none."""
        return str(self.keys[self.verb]) if self.verb in ("generate", "status") else ""

    def about(self, subjects: Iterable[str]) -> list[str]:
        """Returns the kinds of input that the rule runs for: those that it names, else the first of the subjects.

        Defaults see only their manifest, and decisions only their parameters, so neither has any.
        """
        return [] if self.verb in ("default", "decide") else self.list_of("about") or list(subjects)[:1]

    def at(self, *path: str | int) -> SourceLocation:
        """Returns the place of one of the rule's keys."""
        return SourceLocation(self.source, path)

    def expressions(self, key: str) -> list[Expression]:
        """Returns the expressions of a key that holds one or a list of them."""
        return _expressions(key, self.keys, self.at())

    @property
    def shared_conditions(self) -> list[Expression]:
        """The conditions that the head of its file adds. Names are bound in the rule, so a mistake in them is reported with the rule."""
        return _expressions("when", self.head.keys, SourceLocation(self.head.source, (), self.at("rule"))) if self.head else []

    @property
    def conditions(self) -> list[Expression]:
        """All conditions of the rule, those of its file first."""
        return [*self.shared_conditions, *self.expressions("when")]

    def named(self, key: str) -> dict[str, str]:
        """Returns the names and expressions of a key that holds such a map; empty where the key is absent or of the wrong form."""
        value = self.keys.get(key) or {}
        return {str(name): as_expression(expression) for name, expression in value.items()} if isinstance(value, dict) else {}

    def is_sliced(self, vocabulary: Vocabulary) -> bool:
        """Reports whether the outermost loop runs over the slices of the input, so that the rule can be evaluated for one slice alone."""
        outermost = next(iter(self.named("forEach").values()), "")
        return self.verb in SLICED_VERBS and bool(vocabulary.slices) and "".join(outermost.split()) == vocabulary.slices

    def list_of(self, key: str) -> list[str]:
        """Returns the value of a key as a list: one text, a list of texts, or nothing."""
        value = self.keys.get(key)
        return [str(part) for part in (value if isinstance(value, list) else [] if value is None else [value])]


@record
class Template:
    """Represents one template: its document as `value`, and as a tree in which parts are not yet included.

    `usable` is false when its form is wrong.
    """

    name: str
    value: Any
    node: TemplateNode
    source: RuleFile
    usable: bool = True

    @property
    def is_part(self) -> bool:
        """Reports whether the template is a part, for others to include."""
        return self.name.startswith("parts/")

    @property
    def is_status(self) -> bool:
        """Reports whether the template renders the content of `status` instead of a whole object."""
        return self.name.startswith("status/")

    @property
    def kind(self) -> str:
        """The `kind` of the objects it renders; empty when that is an expression, and for parts and statuses."""
        kind = find_field(self.node, "kind")
        return str(kind.value.value) if kind and isinstance(kind.value, Literal) and not self.is_part and not self.is_status else ""


@record
class Constant:
    """Represents a named value, with the place that defines it and the origin of that file."""

    value: Any
    at: SourceLocation
    origin: str


@record
class RuleSet:
    """Holds all rules and templates in force, in the order in which they are written, and everything that is wrong with them.

    `disabled` holds the removed rules by id, with the place that disables them, `duplicates` those whose id a later one has by mistake.
    Compiling a rule adds the mistakes that only then show to `problems`, through the rule's file.
    """

    rules: list[Rule] = field(default_factory=list)
    templates: dict[str, Template] = field(default_factory=dict)
    disabled: dict[str, tuple[Rule, SourceLocation]] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    duplicates: list[Rule] = field(default_factory=list)

    @property
    def included(self) -> set[str]:
        """The names of all parts that some rule or template includes."""
        values = [*(rule.keys for rule in self.rules), *(template.value for template in self.templates.values())]
        return {name for value in values for name in _included(value)}


def find_field(node: TemplateNode, key: str) -> Field | None:
    """Returns the field of a map node that has this key; None where there is none."""
    for entry in node.entries if isinstance(node, MapNode) else ():
        if isinstance(entry, Field) and isinstance(entry.key, Literal) and entry.key.value == key:
            return entry
    return None


def _included(value: Any) -> Iterator[str]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "$include":
            yield from map(str, part if isinstance(part, list) else [part])
        yield from _included(part)


def _expressions(key: str, keys: dict[str, Any], at: SourceLocation) -> list[Expression]:
    value = keys.get(key)
    parts = [((key, index), part) for index, part in enumerate(value)] if isinstance(value, list) else [((key,), value)]
    return [Expression(as_expression(part), path, at.below(*path)) for path, part in parts] if value is not None else []


def as_expression(value: Any) -> str:
    """Returns a YAML value as the text of an expression: `true`, `false` and `null` become the words that expressions use for them."""
    return str({True: "true", False: "false", None: "none"}.get(value, value) if isinstance(value, bool | None) else value)
