"""Implements `grove rules check`: validates the user's rules, and warns about suspicious ones."""

from __future__ import annotations

from collections.abc import Iterator

from grove_cli.rulebook import Rulebook
from grove_cli.rules.template_structure import wrong_templates
from grove_cli.rules.unknown_paths import unknown_paths
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.codegen.build import compile_rules
from grove_compiler.engine.codegen.counting import CountingProgram
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.sources import BUILT_IN, InvalidRules, RuleSource
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest

TYPING_ERROR = 0.9
"""The similarity from which on an id is taken for a misspelt one. It is high, as new rules often resemble built-in ones."""


def check(book: Rulebook) -> list[Diagnostic]:
    """Returns all errors in the rules of all folders, and warnings about the user's."""
    sources = book.sources()
    result = load(sources)
    built_in = load([source for source in sources if source.origin == BUILT_IN])
    findings = [
        *unknown_paths(_own(result), result),
        *wrong_templates(result),
        *_doubtful_ids(result, built_in),
        *_other_verbs(result, built_in),
        *_idle_templates(result, sources),
    ]
    try:
        compile_rules(result, VOCABULARY)
    except InvalidRules as invalid:
        return [*invalid.diagnostics, *findings]
    return findings


def idle_patches(program: CountingProgram) -> Iterator[Diagnostic]:
    """Yields a warning for each of the user's patches that changed nothing in a compilation."""
    for rule in program.rules:
        if rule.verb == "patch" and rule.origin != BUILT_IN and not program.counts[rule.id]:
            reached = "every object that it selects is like that already" if rule.id in program.idle else "it selects none of their objects"
            message = f"the patch {rule.id!r} changes nothing in these manifests: {reached}"
            yield Diagnostic("rules/idle-patch", "warning", message, "patch", rule.file, rule.line)


def _own(result: RuleSet) -> list[Rule]:
    return [rule for rule in result.rules if rule.origin != BUILT_IN]


def _doubtful_ids(result: RuleSet, built_in: RuleSet) -> Iterator[Diagnostic]:
    """Yields warnings about new ids that are similar to a built-in one, which a misspelt replacement would be."""
    ids = [rule.id for rule in built_in.rules]
    for rule in _own(result):
        if rule.id in ids:
            continue
        close = nearest(rule.id, ids, TYPING_ERROR)
        if close:
            message = f"adds the rule {rule.id!r}, which does not replace {close!r}"
            yield _warning("rules/doubtful-id", message, rule, close)


def _other_verbs(result: RuleSet, built_in: RuleSet) -> Iterator[Diagnostic]:
    """Yields warnings about replacements with another verb."""
    verbs = {rule.id: rule.verb for rule in built_in.rules}
    for rule in _own(result):
        verb = verbs.get(rule.id, rule.verb)
        if verb != rule.verb:
            message = f"replaces {rule.id!r}, a {verb} rule, by a {rule.verb} rule: what it did is no longer done"
            yield _warning("rules/other-verb", message, rule)


def _idle_templates(result: RuleSet, sources: list[RuleSource]) -> Iterator[Diagnostic]:
    """Yields warnings about the user's templates that no rule renders."""
    used = {rule.template for rule in result.rules} | result.included
    for source in sources:
        if source.is_template and source.origin != BUILT_IN and source.template_name not in used:
            message = f"no rule renders the template {source.template_name!r}"
            yield Diagnostic("rules/idle-template", "warning", message, file=source.file, line=1)


def _warning(code: str, message: str, rule: Rule, nearest: str = "") -> Diagnostic:
    return Diagnostic(code, "warning", message, file=rule.source.file, line=rule.source.line(("rule",)), nearest=nearest)
