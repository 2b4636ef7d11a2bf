"""A rule as it is written: an id, a line of documentation, one verb and its keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from grove_compiler.engine.shape import MapShape
from grove_compiler.engine.shape_writer import RuleFile

Verb = Literal["default", "validate", "generate", "patch", "condition"]

COMMON_KEYS = {
    "rule": "the rule's id, `topic/name`; a rule of the same id that comes later replaces it",
    "doc": "one line that says why the rule is there, and where it comes from",
    "forEach": "names and what they run over, as nested loops: `{replica: set.replicas, clique: replica.cliques}`",
    "when": "an expression, or a list of them: all must hold",
    "let": "names for expressions, evaluated once for each value of the loops that they use",
}

VERB_KEYS: dict[Verb, dict[str, str]] = {
    "default": {
        "default": "the path, or paths, of the field that gets a value when it is absent; `[*]` is every item, `{a,b}` either field",
        "of": "the kind of manifest that it applies to",
        "value": "the value; `item` is the map that lacks the field, `parent` the map around that, `object` the manifest",
        "absent": "a list of further values that count as absent, such as `0`",
    },
    "validate": {
        "validate": "`create`, `update` or both; on update the former input is in scope",
        "assert": "what must hold, else there is a finding",
        "path": "the field that is wrong, as text",
        "at": "the field whose line is shown, where that is not `path`, as text",
        "message": "what is wrong and what would be right, as text",
        "type": "Kubernetes' word for the kind of mistake: `Invalid value`, `Required value`, `Duplicate value`, `Forbidden` …",
        "value": "an expression: the value that is wrong",
        "known": "an expression: the list of right values, from which the nearest to `value` is suggested",
        "hint": "what to do about it, as text",
        "severity": "`error` (the default) or `warning`",
    },
    "generate": {
        "generate": "the template that is rendered, once for each item",
        "with": "names that the template uses besides the roots and the loops' names",
        "owner": "an expression: the object that owns it",
        "after": "ids of rules (`topic/*`: all of a topic) whose objects come first; of loops that both share, only those of the same item",
        "policy": "what may be done with an object that exists: `create: only`, `adopt`, `recreate`, `yield: [paths]`",
    },
    "patch": {
        "patch": "the kinds, or the ids of the rules, whose objects are changed; a list or one",
        "do": "operations as in RFC 6902, each with `op`, `path`, `value`, and perhaps a `forEach` and a `when` of its own",
    },
    "condition": {
        "condition": "the condition's type",
        "of": "an expression: the object that bears it",
        "cases": "`when`, `status`, `reason`, `message`; the first that holds says the condition, none leaves it out",
    },
}

OPERATIONS = {
    "add": "sets a key, inserts before an index, or appends with `-`; parents that are missing are made",
    "replace": "changes what is there; it is an error when nothing is",
    "remove": "takes out what is there; nothing happens when nothing is",
    "test": "it is an error when the value differs",
    "merge": "merges a map into the one at the path (RFC 7386: null removes a key); parents that are missing are made",
}
OPERATION_KEYS = {"op", "path", "value", "forEach", "when"}
CASE_KEYS = {"when", "status", "reason", "message"}


@dataclass(slots=True, eq=False)
class Rule:
    """One document of a rules file. `keys` holds it as read; `source` knows the lines."""

    id: str
    doc: str
    verb: Verb
    keys: dict[str, Any]
    origin: str
    source: RuleFile

    @property
    def line(self) -> int:
        """The line of its id."""
        return self.source.line(("rule",))

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

    def words(self, key: str) -> list[str]:
        """A key that holds a word or a list of them."""
        value = self.keys.get(key)
        return [str(part) for part in (value if isinstance(value, list) else [] if value is None else [value])]


@dataclass(slots=True, eq=False)
class Template:
    """One template: its shape, and the kind of object that it makes."""

    name: str
    shape: MapShape
    source: RuleFile

    @property
    def kind(self) -> str:
        """The `kind` that it writes; empty when that is an expression."""
        from grove_compiler.engine.shape import Field
        from grove_compiler.engine.shape import Literal as Fixed

        for entry in self.shape.entries:
            if isinstance(entry, Field) and isinstance(entry.key, Fixed) and entry.key.value == "kind" and isinstance(entry.value, Fixed):
                return str(entry.value.value)
        return ""


@dataclass(slots=True, eq=False)
class RuleSet:
    """All rules and templates in force, in the order in which they run."""

    rules: list[Rule] = field(default_factory=list)
    templates: dict[str, Template] = field(default_factory=dict)


def _boolean(value: Any) -> Any:
    """YAML's own booleans as the words of expressions."""
    return {True: "true", False: "false", None: "none"}.get(value, value) if isinstance(value, bool | None) else value
