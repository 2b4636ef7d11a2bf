"""Loads rule files: reads them, checks their form, and replaces and disables rules by id. `build` compiles expressions later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from grove_compiler.engine.language.keys import COMMON_KEYS, CONSTANTS_KEYS, DISABLE_KEYS, FILE_KEYS, RENAMED, VERB_KEYS, Verb
from grove_compiler.engine.language.life import LifeRule, rules_of_life
from grove_compiler.engine.language.life_schema import check_life
from grove_compiler.engine.language.place import RuleFile, SourceLocation
from grove_compiler.engine.language.rule import Constant, FileHead, Rule, RuleSet, Template
from grove_compiler.engine.language.rule_schema import check_constant, check_head, check_keys, check_root, check_rule
from grove_compiler.engine.language.template_ast import MapNode, parse_template
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.nearest import nearest
from grove_compiler.source.document import Document
from grove_compiler.source.yaml_reader import read_yaml


def load(sources: Sequence[RuleSource]) -> RuleSet:
    """Loads all sources in order: later rules replace earlier ones of the same id, later templates those of the same name.

    Mistakes are collected in the rule set's `problems`; a rule or template with one stays, unusable, so that others may name it.
    """
    loader = _Loader()
    for source in sources:
        loader.read(source)
    loader.apply_disables()
    return RuleSet(list(loader.rules.values()), loader.templates, loader.disabled, loader.constants, loader.problems, loader.duplicates)


@lru_cache(maxsize=400)
def _read_built_in(text: str, file: str) -> tuple[list[Document], list[Diagnostic]]:
    """Reads a built-in file, once in a process: each build with other rules of a user reads it again."""
    return read_yaml(text, file)


@lru_cache(maxsize=100)
def _rules_of_built_in_life(text: str, file: str, index: int) -> list[LifeRule]:
    """Returns the rules of a built-in life, made once in a process: what is generated for a rule is found by its document."""
    return rules_of_life(_read_built_in(text, file)[0][index])


class _Loader:
    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self.templates: dict[str, Template] = {}
        self.constants: dict[str, Constant] = {}
        self.disables: list[tuple[str, SourceLocation]] = []
        self.disabled: dict[str, tuple[Rule, SourceLocation]] = {}
        self.duplicates: list[Rule] = []
        self.problems: list[Diagnostic] = []
        self.reported: set[tuple[str, int, str]] = set()

    def read(self, source: RuleSource) -> None:
        documents, problems = (read_yaml if source.is_metered else _read_built_in)(source.text, source.file)
        self.problems += problems
        if source.is_template and not documents:
            file = RuleFile(source.file, None, self._report, source.is_metered)
            if not problems:
                file.fail((), "a template file holds one document; this one is empty")
            empty = MapNode([], [], None, (), SourceLocation(file, ()))
            self.templates[source.template_name] = Template(source.template_name, {}, empty, file, usable=False)
        head: FileHead | None = None
        for document in documents:
            file = RuleFile(source.file, document, self._report, source.is_metered)
            is_list = source.template_name.startswith("parts/") and isinstance(document.value, list)
            if not isinstance(document.value, dict) and not is_list:
                file.fail((), "expected a map" if source.is_template else "a rule is a map with `rule`, `doc` and a verb")
            elif source.is_template:
                self._template(source, document, file)
            elif "constants" in document.value:
                self._constants(source, document, file)
            elif "disable" in document.value:
                self._disable(document, file)
            elif "rules" in document.value:
                head = self._head(document, file)
            elif "life" in document.value:
                self._life(source, document, file, head)
            else:
                self._rule(source, document, file, head)

    def _report(self, file: str, line: int, path: FieldPath, message: str, suggestion: str) -> None:
        if (file, line, message) not in self.reported:  # one expression may be compiled for several rules
            self.reported.add((file, line, message))
            self.problems.append(Diagnostic("rules/invalid", "error", message, render(path), file, line, nearest=suggestion))

    def _template(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        if document.index > 0:
            file.fail((), "a template file holds one document")
            return
        template = Template(source.template_name, document.value, parse_template(document.value, SourceLocation(file, ())), file)
        check_root(template)
        template.usable = not file.broken
        self.templates[source.template_name] = template

    def _constants(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        """Reads constants. Those of a later source replace earlier ones of the same name, if their values are of the same type."""
        check_keys(document.value, CONSTANTS_KEYS, (), file, "a `constants` document")
        values = document.value["constants"]
        for name, value in values.items() if isinstance(values, dict) else ():
            constant, replaced = Constant(value, SourceLocation(file, ("constants", name)), source.origin), self.constants.get(name)
            check_constant(name, constant, replaced)
            self.constants[name] = constant

    def _disable(self, document: Document, file: RuleFile) -> None:
        check_keys(document.value, DISABLE_KEYS, (), file, "a `disable` document")
        ids = document.value["disable"]
        if not file.broken:
            self.disables += [
                (rule_id, SourceLocation(file, ("disable", index))) for index, rule_id in enumerate(ids if isinstance(ids, list) else [ids])
            ]

    def _head(self, document: Document, file: RuleFile) -> FileHead | None:
        """Reads what the rules of a file have in common. Returns None if it is wrong, so that each mistake is reported once."""
        check_keys(document.value, FILE_KEYS, (), file, "a `rules` document")
        if document.index > 0:
            file.fail(("rules",), "what the rules of a file have in common is its first document")
        return None if file.broken else FileHead(document.value, file)

    def _rule(self, source: RuleSource, document: Document, file: RuleFile, head: FileHead | None) -> None:
        keys: dict[str, Any] = document.value
        verbs: list[Verb] = [verb for verb in VERB_KEYS if verb in keys]
        if len(verbs) != 1:
            self._no_verb(file, keys, verbs)
            return
        rule = Rule(str(keys.get("rule", "")), str(keys.get("doc", "")), verbs[0], keys, source.origin, file, head=head)
        check_rule(rule)
        replaced = self.rules.get(rule.id)
        if replaced is not None and replaced.origin == rule.origin:
            file.fail(("rule",), f"the id {rule.id!r} is taken by a rule in {replaced.source.file}:{replaced.line}")
            self.duplicates.append(replaced)
        rule.usable = not file.broken
        self.rules[rule.id] = rule

    def _life(self, source: RuleSource, document: Document, file: RuleFile, head: FileHead | None) -> None:
        """Adds the rules of a life. They take the place of those of an earlier life of its id."""
        life = check_life(document.value, file)
        is_built_in = not source.is_metered
        parts = _rules_of_built_in_life(source.text, source.file, document.index) if is_built_in else rules_of_life(document)
        rules: dict[str, Rule] = {}
        for part in parts:
            own = RuleFile(source.file, part.document, self._report, source.is_metered, file.broken)
            rules[part.id] = Rule(part.id, part.doc, part.verb, part.document.value, source.origin, own, not file.broken, life, head)
            check_head(rules[part.id])
        earlier = [rule for rule in self.rules.values() if life.id in (rule.id, rule.life.id if rule.life else "")]
        if any(rule.origin == source.origin for rule in earlier):
            file.fail(("life",), f"the id {life.id!r} is taken in {earlier[0].source.file}:{earlier[0].line}")
        kept = {rule_id: rule for rule_id, rule in self.rules.items() if rule not in earlier}
        position = list(self.rules).index(earlier[0].id) if earlier else len(self.rules)
        before = list(kept.items())[:position]
        self.rules = dict([*before, *rules.items(), *list(kept.items())[position:]])

    def _no_verb(self, file: RuleFile, keys: dict[str, Any], verbs: list[Verb]) -> None:
        """Reports a rule without a verb, or with several. An unknown key that resembles a verb is suggested to be that verb."""
        known = {*COMMON_KEYS, *(word for of_verb in VERB_KEYS.values() for word in of_verb)}
        meant = {} if verbs else {key: near for key in keys if key not in known and (near := RENAMED.get(key) or nearest(key, VERB_KEYS))}
        misspelt, near = next(iter(meant.items()), ("", ""))
        has = " and ".join(verbs) or (repr(misspelt) if misspelt else "none")
        path = (misspelt,) if misspelt else ()
        file.fail(path, f"a rule has exactly one verb of {', '.join(VERB_KEYS)}; this one has {has}", near)

    def apply_disables(self) -> None:
        """Removes the rules that `disable` names, and all rules of the lives that it names.

        Runs after all sources are read, since a rule may be disabled before it is defined.
        """
        lives: dict[str, list[str]] = {}
        for rule in self.rules.values():
            if rule.life:
                lives.setdefault(rule.life.id, []).append(rule.id)
        known = [*self.rules, *lives]
        for named, at in self.disables:
            if named not in known:
                at.fail(f"there is no rule {named!r} to disable", nearest(named, known))
            for rule_id in lives.get(named, [named]):
                if rule_id in self.rules:
                    self.disabled[rule_id] = self.rules.pop(rule_id), at
