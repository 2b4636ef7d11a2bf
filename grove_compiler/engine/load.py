"""Rule files to rules: read, checked for form, replaced and disabled by id. What expressions mean comes later, in `build`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from grove_compiler.engine.rule import COMMON_KEYS, VERB_KEYS, Rule, RuleSet, Template, Verb
from grove_compiler.engine.shape import MapShape, parse_shape
from grove_compiler.engine.shape_writer import RuleFile
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.nearest import nearest
from grove_compiler.source.document import Document
from grove_compiler.source.yaml_reader import read_yaml

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)*")


def load(sources: Sequence[RuleSource]) -> tuple[RuleSet, list[Diagnostic]]:
    """All sources in order: later rules replace earlier ones of the same id, later templates those of the same name."""
    loader = _Loader()
    for source in sources:
        loader.read(source)
    loader.apply_disables()
    return RuleSet(list(loader.rules.values()), loader.templates), loader.problems


class _Loader:
    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self.templates: dict[str, Template] = {}
        self.disables: list[tuple[str, RuleFile, FieldPath]] = []
        self.problems: list[Diagnostic] = []

    def read(self, source: RuleSource) -> None:
        documents, problems = read_yaml(source.text, source.file)
        self.problems += problems
        for document in documents:
            file = RuleFile(source.file, _line_of(document), self._report)
            if not isinstance(document.value, dict):
                file.fail((), "expected a map" if source.is_template else "a rule is a map with `rule`, `doc` and a verb")
            elif source.is_template:
                self._template(source, document, file)
            elif "disable" in document.value:
                self._disable(document, file)
            else:
                self._rule(source, document, file)

    def _report(self, file: str, line: int, path: FieldPath, message: str, suggestion: str) -> None:
        finding = Diagnostic("rules/invalid", "error", message, render(path), file, line, nearest=suggestion)
        seen = any((p.file, p.line, p.message) == (file, line, message) for p in self.problems)
        if not seen:  # one expression may be compiled for several rules
            self.problems.append(finding)

    def _template(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        if document.index > 0:
            file.fail((), "a template file holds one document")
            return
        shape = parse_shape(document.value, (), file.fail)
        assert isinstance(shape, MapShape)
        self.templates[source.template_name] = Template(source.template_name, shape, file)

    def _disable(self, document: Document, file: RuleFile) -> None:
        for key in document.value.keys() - {"disable", "doc"}:
            file.fail((key,), f"a `disable` document has no key {key!r}")
        ids = document.value["disable"]
        if not isinstance(ids, list):
            file.fail(("disable",), "`disable` is a list of rule ids")
            return
        self.disables += [(str(id), file, ("disable", index)) for index, id in enumerate(ids)]

    def _rule(self, source: RuleSource, document: Document, file: RuleFile) -> None:
        keys: dict[str, Any] = document.value
        verbs: list[Verb] = [verb for verb in VERB_KEYS if verb in keys]
        if len(verbs) != 1:
            said = f"has {' and '.join(verbs)}" if verbs else "has none"
            file.fail((), f"a rule has exactly one verb of {', '.join(VERB_KEYS)}; this one {said}")
            return
        rule = Rule(str(keys.get("rule", "")), str(keys.get("doc", "")), verbs[0], keys, source.origin, file)
        _check_keys(rule)
        former = self.rules.get(rule.id)
        if former is not None and former.origin == rule.origin:
            file.fail(("rule",), f"the id {rule.id!r} is taken by a rule in {former.source.file}:{former.line}")
        self.rules[rule.id] = rule

    def apply_disables(self) -> None:
        """Takes out what `disable` names, once everything is read."""
        known = list(self.rules)
        for id, file, path in self.disables:
            if id not in known:
                file.fail(path, f"there is no rule {id!r} to disable", nearest(id, known))
            self.rules.pop(id, None)


def _line_of(document: Document) -> Any:
    return lambda path: document.place(path)[0]


def _check_keys(rule: Rule) -> None:
    """Names, kinds of values and unknown keys; what expressions say is checked when they are compiled."""
    fail = rule.source.fail
    allowed = {**COMMON_KEYS, **VERB_KEYS[rule.verb]}
    for key in rule.keys:
        if key not in allowed:
            fail((key,), f"a {rule.verb} rule has no key {key!r}; there are {', '.join(sorted(allowed))}", nearest(key, allowed))
    if not _ID.fullmatch(rule.id):
        fail(("rule",), f"an id is lower-case words with `-` and `/` between them, as in `podgang/base`; found {rule.id!r}")
    if not rule.doc.strip():
        fail((), f"the rule {rule.id!r} needs a `doc`: one line that says why it is there")
    for key in ("forEach", "let", "with"):
        value = rule.keys.get(key)
        if value is not None and not isinstance(value, dict):
            fail((key,), f"`{key}` is a map of names to expressions")
            continue
        for name in value or {}:
            if not name.isidentifier():
                fail((key, name), f"{name!r} is not a name: letters, digits and `_`")
    for key in _REQUIRED[rule.verb]:
        if key not in rule.keys:
            fail((), f"a {rule.verb} rule needs the key `{key}`")


_REQUIRED: dict[Verb, tuple[str, ...]] = {
    "default": ("of", "value"),
    "validate": ("assert", "path", "message"),
    "generate": (),
    "patch": ("do",),
    "condition": ("of", "cases"),
}
