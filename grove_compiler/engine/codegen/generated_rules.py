"""Remembers what the built-in rules were compiled to, since a user's rules change few of them: each build would compile all again."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.engine.codegen.block import CompiledFunction
from grove_compiler.engine.codegen.rule_codegen import RuleCodegen
from grove_compiler.engine.codegen.rule_function import Surroundings
from grove_compiler.engine.language.place import RuleFile
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.source.document import Document

MAX_CACHED = 4000
"""Rules of which the function is kept: all built-in ones, in the three forms of code, twice over."""

_compiled: dict[tuple[object, ...], CompiledFunction] = {}
"""The functions of rules, by the form of code, the vocabulary and the documents: a document equals only itself."""


class GeneratedRules:
    """Compiles the rules of a rule set, or finds their functions where everything that they depend on was the same in an earlier build.

    That is known by their documents: `load` gives the same ones for the same text of a built-in file.
    """

    def __init__(self, rule_set: RuleSet, vocabulary: Vocabulary, around: Surroundings, counted: bool) -> None:
        self._rule_set = rule_set
        self._codegen = RuleCodegen(around, counted)
        parts = [template.source for template in rule_set.templates.values() if template.is_part]
        shared = [constant.at.file for constant in rule_set.constants.values()] + parts
        self._shared = _documents(shared)
        self._vocabulary, self._form = vocabulary, (around.traced, counted)

    def compiled(self, rule: Rule, patches: Sequence[Rule]) -> CompiledFunction | None:
        """Returns the function of a rule, with the patches that apply to its results; None where something is wrong, which is reported."""
        template = self._rule_set.templates.get(rule.template)
        rules = [file for one in (rule, *patches) for file in one.files]
        own = _documents([*rules, *([template.source] if template else [])])
        if own is None or self._shared is None:
            return self._compile(rule, patches)
        key = (*self._form, self._vocabulary, *own, *self._shared)
        function = _compiled.get(key)
        if function is None and (function := self._compile(rule, patches)) is not None:
            if len(_compiled) >= MAX_CACHED:
                _compiled.clear()
            _compiled[key] = function
        return function

    def _compile(self, rule: Rule, patches: Sequence[Rule]) -> CompiledFunction | None:
        problems = len(self._rule_set.problems)
        block = self._codegen.write(rule, patches)
        if rule.source.broken or len(self._rule_set.problems) > problems:
            return None
        function = block.compiled(rule.id)
        if function is None:
            rule.source.fail((), f"the rule {rule.id!r}, with its template and patches, is nested too deeply: at most 20 loops, 90 levels")
        return function


def _documents(files: Sequence[RuleFile]) -> list[Document] | None:
    """Returns the documents of files; None where one of them is a user's or is wrong, so that nothing may be remembered of it."""
    if any(file.metered or file.broken or file.document is None for file in files):
        return None
    return [file.document for file in files if file.document is not None]
