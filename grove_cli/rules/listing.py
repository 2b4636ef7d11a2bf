"""Lists rules with their place, text, replacements, and the results that they produced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from grove_cli.rulebook import Rulebook
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.rule import Rule
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.source.yaml_reader import read_yaml

PLURALS = {
    "default": ("field set", "fields set"),
    "validate": ("finding", "findings"),
    "generate": ("object", "objects"),
    "patch": ("object changed", "objects changed"),
    "condition": ("condition", "conditions"),
    "decide": ("time asked", "times asked"),
    "status": ("status", "statuses"),
    "event": ("event", "events"),
    "requeue": ("time named", "times named"),
    "delete": ("deletion", "deletions"),
    "wait": ("wait", "waits"),
}

MARKER = re.compile(r"\A---.*\n|\n?---.*\Z")
"""The line between two rules, at either end of a rule's text; its comment is for those who maintain the rules."""


@record
class Listed:
    """An effective or disabled rule. `replaces` are the places of the rules of the same id that it replaces.

    `count` is how much it did, as `PLURALS` names it; none when nothing was compiled. `about` are the kinds that it is about.
    """

    id: str
    doc: str
    verb: str
    place: str
    origin: str
    about: list[str]
    is_disabled: bool = False
    replaces: list[str] = field(default_factory=list)
    count: int | None = None

    @property
    def note(self) -> str:
        """Whether the rule is disabled or a replacement; empty for other rules."""
        if self.is_disabled:
            return "disabled"
        return f"replaces {', '.join(self.replaces)}" if self.replaces else ""

    @property
    def title(self) -> str:
        """Its documentation, with the note."""
        return self.doc + (f" [{self.note}]" if self.note else "")

    @property
    def did(self) -> str:
        """How much it did, in words; empty when nothing was compiled, and for a disabled rule."""
        return "" if self.count is None else f"{self.count} {PLURALS[self.verb][self.count != 1]}"

    def as_manifest(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        file, _, line = self.place.rpartition(":")
        result: dict[str, Any] = {"id": self.id, "doc": self.doc, "verb": self.verb, "about": self.about, "origin": self.origin}
        result |= {"file": file, "line": int(line), "disabled": self.is_disabled, "replaces": self.replaces}
        return result if self.count is None else {**result, "count": self.count}


def as_text(listed: Listed, rule: RuleInfo) -> Iterator[str]:
    """Yields the lines about an effective rule that stand before its text."""
    yield f"{listed.id}  {listed.place}"
    yield listed.doc
    yield ""
    yield f"verb      {listed.verb}" + (f", about {', '.join(listed.about)}" if listed.about else "")
    if listed.note:
        yield f"note      {listed.note}"
    if listed.did:
        yield f"did       {listed.did}"
    if template := rule.details.get("template"):
        kind = rule.details.get("kind")
        yield f"template  templates/{template}" + (f", of {kind}" if kind else "")
    if rule.after:
        yield f"after     {', '.join(word for word, _ in rule.after)}"


def list_rules(book: Rulebook, program: Program, counts: dict[str, int] | None = None) -> list[Listed]:
    """Returns the effective rules in order of evaluation, followed by disabled ones."""
    history = _history(book)
    listed = []
    for rule in program.rules:
        replaced = [earlier for earlier in history.get(rule.id, []) if earlier.origin != rule.origin]
        listed.append(
            Listed(
                rule.id,
                rule.doc,
                rule.verb,
                book.place(rule.file, rule.line, rule.origin),
                rule.origin,
                list(rule.details.get("about") or rule.details.get("of") or []),
                replaces=[book.place(earlier.source.file, earlier.line, earlier.origin) for earlier in replaced],
                count=None if counts is None else counts.get(rule.id, 0),
            )
        )
    in_force = {rule.id for rule in program.rules}
    for rule_id, rules in history.items():
        if rule_id not in in_force:
            last = rules[-1]
            where = book.place(last.source.file, last.line, last.origin)
            listed.append(Listed(rule_id, last.doc, last.verb, where, last.origin, last.list_of("of"), is_disabled=True))
    return listed


def patches_for(rule: RuleInfo, program: Program) -> list[RuleInfo]:
    """Returns the patches that may change the objects of a rule."""
    return [patch for patch in program.rules if patch.id in rule.details.get("patches", ())]


def source_text(sources: Sequence[RuleSource], rule: RuleInfo) -> str:
    """Returns the source of a rule, after the head of its file: for one that is an effect of a life, all of that."""
    for source in sources:
        if source.file != rule.file or source.origin != rule.origin:
            continue
        head = ""
        for document in read_yaml(source.text, source.file)[0]:
            named = document.value if isinstance(document.value, dict) else {}
            if "rules" in named:
                head = f"{_text(document)}\n---\n"
            if named.get("rule") == rule.id or ("life" in named and named["life"] == rule.details.get("life")):
                return head + _text(document)
    return ""


def _text(document: Document) -> str:
    text = document.origin.text[document.origin.start : document.origin.end].strip("\n") if document.origin else ""
    return MARKER.sub("", text).strip("\n")


def template_text(sources: Sequence[RuleSource], name: str) -> str:
    """Returns the source of a template; of several with one name that of the last."""
    return next((source.text.strip("\n") for source in reversed(sources) if source.is_template and source.template_name == name), "")


def _history(book: Rulebook) -> dict[str, list[Rule]]:
    """Returns all rules of each id, replaced ones first."""
    history: dict[str, list[Rule]] = {}
    sources = book.sources()
    for origin in dict.fromkeys(source.origin for source in sources):
        for rule in load([source for source in sources if source.origin == origin and not source.is_template]).rules:
            history.setdefault(rule.id, []).append(rule)
    return history
