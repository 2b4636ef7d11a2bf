"""A rule as it is written: an id, a line of documentation, one verb and its keys. Templates, constants, and all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from grove_compiler.engine.language.keys import SLICED_VERBS, Verb
from grove_compiler.engine.language.place import Place, RuleFile
from grove_compiler.engine.language.template_ast import Field, Literal, MapNode, TemplateNode
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record


@record
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

    @property
    def decision(self) -> str:
        """What a `decide` rule decides; empty for other verbs."""
        return str(self.keys["decide"]) if self.verb == "decide" else ""

    @property
    def template(self) -> str:
        """The name of the template that it renders; empty for verbs that render none."""
        return str(self.keys[self.verb]) if self.verb in ("generate", "status") else ""

    def about(self, subjects: Iterable[str]) -> list[str]:
        """The kinds of input that it is about: those that it names, else the first.

        Defaults see no kind but their manifest, and decisions only what they are asked with.
        """
        return [] if self.verb in ("default", "decide") else self.words("about") or list(subjects)[:1]

    def at(self, *path: str | int) -> Place:
        """The place of one of its keys."""
        return Place(self.source, path)

    def expressions(self, key: str) -> list[str]:
        """A key that holds an expression or a list of them."""
        value = self.keys.get(key)
        if value is None:
            return []
        return [as_expression(part) for part in (value if isinstance(value, list) else [value])]

    def named(self, key: str) -> dict[str, str]:
        """A key that holds names and expressions."""
        value = self.keys.get(key) or {}
        return {str(name): as_expression(expression) for name, expression in value.items()} if isinstance(value, dict) else {}

    def is_sliced(self, vocabulary: Vocabulary) -> bool:
        """Tells whether its outermost loop runs over the slices of the input, so that it can be evaluated for one of them alone."""
        outermost = next(iter(self.named("forEach").values()), "")
        return self.verb in SLICED_VERBS and bool(vocabulary.slices) and "".join(outermost.split()) == vocabulary.slices

    def words(self, key: str) -> list[str]:
        """A key that holds a word or a list of them."""
        value = self.keys.get(key)
        return [str(part) for part in (value if isinstance(value, list) else [] if value is None else [value])]


@record
class Template:
    """One template: its document as `value` and as a tree, in which parts are not yet included.

    `usable` is false when its form is wrong.
    """

    name: str
    value: Any
    node: TemplateNode
    source: RuleFile
    usable: bool = True

    @property
    def is_part(self) -> bool:
        """Whether it is there for others to include."""
        return self.name.startswith("parts/")

    @property
    def is_status(self) -> bool:
        """Whether it is what stands below `status`, instead of a whole object."""
        return self.name.startswith("status/")

    @property
    def kind(self) -> str:
        """The `kind` that it writes; empty when that is an expression, and for what is no whole object."""
        kind = find_field(self.node, "kind")
        return str(kind.value.value) if kind and isinstance(kind.value, Literal) and not self.is_part and not self.is_status else ""


@record
class Constant:
    """A name that stands for a value everywhere, where it is written, and whose it is."""

    value: Any
    at: Place
    origin: str


@record
class RuleSet:
    """All rules and templates in force, in the order in which they are written, and everything that was found wrong with them.

    `disabled` are the rules that were taken out, by id, with the place that says so. Every rule's file adds to `problems` what
    compiling it brings to light.
    """

    rules: list[Rule] = field(default_factory=list)
    templates: dict[str, Template] = field(default_factory=dict)
    disabled: dict[str, tuple[Rule, Place]] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def included(self) -> set[str]:
        """The names of the parts that a rule or a template includes."""
        values = [*(rule.keys for rule in self.rules), *(template.value for template in self.templates.values())]
        return {name for value in values for name in _included(value)}


def find_field(node: TemplateNode, key: str) -> Field | None:
    """The entry of a map that has this key."""
    for entry in node.entries if isinstance(node, MapNode) else ():
        if isinstance(entry, Field) and isinstance(entry.key, Literal) and entry.key.value == key:
            return entry
    return None


def _included(value: Any) -> Iterator[str]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "$include":
            yield from map(str, part if isinstance(part, list) else [part])
        yield from _included(part)


def as_expression(value: Any) -> str:
    """What stands under a key as an expression: YAML's own booleans and null are the words of expressions for them."""
    return str({True: "true", False: "false", None: "none"}.get(value, value) if isinstance(value, bool | None) else value)
