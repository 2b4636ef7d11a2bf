"""Remembers what was generated for the built-in rules, since a user's rules change few of them: each build would generate all again."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.engine.codegen.module_codegen import ModuleCodegen
from grove_compiler.engine.codegen.rule_codegen import RuleCodegen
from grove_compiler.engine.codegen.rule_function import Surroundings
from grove_compiler.engine.language.place import RuleFile
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.source.document import Document

MAX_CACHED = 4000
"""Rules of which what was generated is kept: all built-in ones, in the three forms of code, twice over."""

_generated: dict[tuple[object, ...], ModuleCodegen] = {}
"""What was generated, by the form of code, the vocabulary and the documents: a document equals only itself."""


class GeneratedRules:
    """Generates the functions of a rule set, or finds them where everything that they depend on was the same in an earlier build.

    That is known by their documents: `load` gives the same ones for the same text of a built-in file.
    """

    def __init__(self, rule_set: RuleSet, vocabulary: Vocabulary, around: Surroundings, counted: bool) -> None:
        self._rule_set = rule_set
        self._codegen = RuleCodegen(around, counted)
        parts = [template.source for template in rule_set.templates.values() if template.is_part]
        shared = [constant.at.file for constant in rule_set.constants.values()] + parts
        self._shared = _documents(shared)
        self._vocabulary, self._form = vocabulary, (around.traced, counted)

    def add(self, module: ModuleCodegen, index: int, rule: Rule, patches: Sequence[Rule]) -> None:
        """Adds the function of the rule at this position to a module, with the patches that apply to its results."""
        template = self._rule_set.templates.get(rule.template)
        rules = [file for one in (rule, *patches) for file in one.files]
        own = _documents([*rules, *([template.source] if template else [])])
        if own is None or self._shared is None:
            module.add_generated(self._generate(rule, patches), index)
            return
        key = (*self._form, self._vocabulary, *own, *self._shared)
        part = _generated.get(key)
        if part is None:
            problems = len(self._rule_set.problems)
            part = self._generate(rule, patches)
            if len(self._rule_set.problems) == problems:
                if len(_generated) >= MAX_CACHED:
                    _generated.clear()
                _generated[key] = part
        module.add_generated(part, index)

    def _generate(self, rule: Rule, patches: Sequence[Rule]) -> ModuleCodegen:
        module = ModuleCodegen()
        self._codegen.write(module, rule, patches)
        return module


def _documents(files: Sequence[RuleFile]) -> list[Document] | None:
    """Returns the documents of files; None where one of them is a user's or is wrong, so that nothing may be remembered of it."""
    if any(file.metered or file.broken or file.document is None for file in files):
        return None
    return [file.document for file in files if file.document is not None]
