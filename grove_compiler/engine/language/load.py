"""Rule files to rules: read, checked for form, replaced and disabled by id. What expressions mean comes later, in `build`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from grove_compiler.engine.language.keys import DISABLE_KEYS, VERB_KEYS, Verb
from grove_compiler.engine.language.rule import Rule, RuleSet, Template, find_field
from grove_compiler.engine.language.rule_file import RuleFile
from grove_compiler.engine.language.rule_schema import check_keys, check_rule
from grove_compiler.engine.language.template_ast import Bare, MapShape, parse_shape
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.nearest import nearest
from grove_compiler.source.document import Document
from grove_compiler.source.yaml_reader import read_yaml


def load(sources: Sequence[RuleSource]) -> RuleSet:
    """All sources in order: later rules replace earlier ones of the same id, later templates those of the same name."""
    loader = _Loader()
    for source in sources:
        loader.read(source)
    loader.apply_disables()
    return RuleSet(list(loader.rules.values()), loader.templates, list(loader.disabled), loader.problems)


class _Loader:
    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self.templates: dict[str, Template] = {}
        self.disables: list[tuple[str, RuleFile, FieldPath]] = []
        self.disabled: dict[str, Rule] = {}
        self.problems: list[Diagnostic] = []
        self.reported: set[tuple[str, int, str]] = set()

    def read(self, source: RuleSource) -> None:
        documents, problems = read_yaml(source.text, source.file)
        self.problems += problems
        if source.is_template and not documents:
            file = RuleFile(source.file, lambda _: 1, self._report, source.is_metered)
            if not problems:
                file.fail((), "a template file holds one document; this one is empty")
            self.templates[source.template_name] = Template(source.template_name, MapShape([], [], None, ()), file, usable=False)
        for document in documents:
            file = RuleFile(source.file, _line_of(document), self._report, source.is_metered)
            if not isinstance(document.value, dict):
                file.fail((), "expected a map" if source.is_template else "a rule is a map with `rule`, `doc` and a verb")
            elif source.is_template:
                self._template(source, document, file)
            elif "disable" in document.value:
                self._disable(document, file)
            else:
                self._rule(source, document, file)

    def _report(self, file: str, line: int, path: FieldPath, message: str, suggestion: str) -> None:
        if (file, line, message) not in self.reported:  # one expression may be compiled for several rules
            self.reported.add((file, line, message))
            self.problems.append(Diagnostic("rules/invalid", "error", message, render(path), file, line, nearest=suggestion))

    def _template(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        if document.index > 0:
            file.fail((), "a template file holds one document")
            return
        shape = parse_shape(document.value, (), file.fail)
        assert isinstance(shape, MapShape)
        template = Template(source.template_name, shape, file)
        _check_root(template)
        template.usable = not file.broken
        self.templates[source.template_name] = template

    def _disable(self, document: Document, file: RuleFile) -> None:
        check_keys(document.value, DISABLE_KEYS, (), file, "a `disable` document")
        ids = document.value["disable"]
        if not file.broken:
            self.disables += [(id, file, ("disable", index)) for index, id in enumerate(ids if isinstance(ids, list) else [ids])]

    def _rule(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        keys: dict[str, Any] = document.value
        verbs: list[Verb] = [verb for verb in VERB_KEYS if verb in keys]
        if len(verbs) != 1:
            said = f"has {' and '.join(verbs)}" if verbs else "has none"
            file.fail((), f"a rule has exactly one verb of {', '.join(VERB_KEYS)}; this one {said}")
            return
        rule = Rule(str(keys.get("rule", "")), str(keys.get("doc", "")), verbs[0], keys, source.origin, file)
        check_rule(rule)
        former = self.rules.get(rule.id)
        if former is not None and former.origin == rule.origin:
            file.fail(("rule",), f"the id {rule.id!r} is taken by a rule in {former.source.file}:{former.line}")
        rule.usable = not file.broken
        self.rules[rule.id] = rule

    def apply_disables(self) -> None:
        """Takes out what `disable` names, once everything is read."""
        known = list(self.rules)
        for id, file, path in self.disables:
            if id not in known:
                file.fail(path, f"there is no rule {id!r} to disable", nearest(id, known))
            elif id in self.rules:
                self.disabled[id] = self.rules.pop(id)


def _line_of(document: Document) -> Callable[[FieldPath], int]:
    return lambda path: document.place(path)[0]


def _check_root(template: Template) -> None:
    """What every object needs. Entries that a merge may bring are not missed."""
    fail = template.source.fail
    if template.shape.condition:
        fail(template.shape.condition.path, "a template is not left out by `$if`; say `when` in the rule")
    _check_fields(template.shape, ("apiVersion", "kind", "metadata"), template.source)
    metadata = template.field("metadata")
    if metadata and not isinstance(metadata.value, MapShape):
        fail(metadata.path, "`metadata` is a map")
    elif metadata and isinstance(metadata.value, MapShape):
        _check_fields(metadata.value, ("name",), template.source)


def _check_fields(shape: MapShape, names: tuple[str, ...], file: RuleFile) -> None:
    if any(isinstance(entry, Bare) for entry in shape.entries):
        return
    for name in names:
        if find_field(shape, name) is None:
            file.fail(shape.path, f"a template needs `{render((*shape.path, name))}`")
