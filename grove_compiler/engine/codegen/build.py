"""Builds a program from rule and template texts: load, check, order, generate, compile. Only a cold start runs this, with Jinja2."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from grove_compiler.engine.codegen.generated_rules import GeneratedRules
from grove_compiler.engine.codegen.rule_function import Surroundings
from grove_compiler.engine.language import ordering
from grove_compiler.engine.language.decisions import check_decisions
from grove_compiler.engine.language.includes import Resolver
from grove_compiler.engine.language.keys import SLICED_VERBS
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.patches import Patches
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.language.written_fields import has_user_part, written_fields
from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.defaults import parse_default_path
from grove_compiler.engine.runtime.failure import RuleInfo, code_name
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, RuleSource, Vocabulary
from grove_compiler.graph.nearest import nearest


def build(sources: Sequence[RuleSource], vocabulary: Vocabulary) -> Program:
    """Builds the program of all sources; later rules replace earlier ones by id. Raises `InvalidRules` with everything that is wrong."""
    return Program(compile_rules(load(sources), vocabulary), vocabulary)


def compile_rules(rule_set: RuleSet, vocabulary: Vocabulary, traced: bool = False, counted: bool = False) -> Compiled:
    """Compiles a rule set to Python functions. Raises `InvalidRules` with everything that is wrong.

    `traced` code records where each value comes from, for `grove explain`; `counted` code reports which patches changed something.
    """
    check_decisions(rule_set, vocabulary.decisions, vocabulary.former_decisions)
    rules = ordering.in_apply_order(rule_set)
    constants = {name: constant.value for name, constant in rule_set.constants.items()}
    around = Surroundings(vocabulary, Resolver(rule_set.templates, constants), constants, traced)
    generated, patches = GeneratedRules(rule_set, vocabulary, around, counted), Patches(rule_set, vocabulary)
    usable = [rule for rule in rules if rule.usable]
    compiled = [generated.compiled(rule, patches.of(rule)) for rule in usable]
    for rule in [*(rule for rule in rules if not rule.usable), *rule_set.duplicates]:
        _report_expressions(generated, rule)
    patches.report_idle()
    infos = [_info(rule, rules, rule_set, vocabulary, around.resolver, patches) for rule in usable]
    if rule_set.problems:
        raise InvalidRules(sorted(rule_set.problems, key=lambda finding: (finding.file, finding.line)))
    functions = [function for function in compiled if function is not None]  # all of them: what is None has been reported
    shared = around.shared.values()
    for function in functions:
        shared |= function.constants
    places = {code_name(rule.id): (function.lines, function.places) for rule, function in zip(usable, functions, strict=True)}
    return Compiled(infos, [function.code for function in functions], shared, marshal.dumps(places))


def _report_expressions(generated: GeneratedRules, rule: Rule) -> None:
    """Reports what is wrong with the expressions of a rule whose form is wrong, so that one look shows all.

    Without its loops and variables every name would look unknown.
    """
    if not rule.source.wrong_keys & {"forEach", "let"}:
        with suppress(Exception):  # nobody runs the code, and what is missing has been reported
            generated.compiled(rule, [])


def _info(rule: Rule, rules: list[Rule], rule_set: RuleSet, vocabulary: Vocabulary, resolver: Resolver, patches: Patches) -> RuleInfo:
    loops = tuple((word, " ".join(text.split())) for word, text in rule.named("forEach").items())
    after = ordering.joins(rule, rules)
    about = rule.about(vocabulary.subjects)
    for word in about:
        if word not in vocabulary.subjects:
            message = f"rules cannot be about {word!r}; there are {', '.join(vocabulary.subjects) or 'no kinds'}"
            rule.source.fail(("about",), message, nearest(word, vocabulary.subjects))
    details = {**_details(rule, rule_set), "about": about, **({"life": rule.life.id} if rule.life else {})}
    if rule.verb in ("generate", "status"):
        applied = patches.of(rule)
        details["patches"] = [patch.id for patch in applied]
        if rule.verb == "generate" and has_user_part(rule, applied, rule_set):
            details["written"] = written_fields(rule, applied, resolver)
    if rule.verb in SLICED_VERBS:
        details["sliced"] = rule.is_sliced(vocabulary)
    return RuleInfo(rule.id, rule.doc, rule.verb, rule.origin, rule.source.file, rule.line, loops, after, details)


def _details(rule: Rule, rule_set: RuleSet) -> dict[str, Any]:
    """Returns the keys of a rule that are data, not code: what `Program` needs at run time without the rule's text."""
    keys = rule.keys
    if rule.verb == "default":
        written = {"absent": keys.get("absent", []), "warn": keys.get("warn", "")}
        return {"of": rule.list_of("of"), "paths": _default_paths(rule), **written}
    if rule.verb == "validate":
        choices = {"severity": keys.get("severity", "error"), "holds": keys.get("holds", "all")}
        return {"operations": rule.list_of("validate"), "type": keys.get("type", ""), **choices}
    if rule.verb == "generate":
        template = rule_set.templates.get(rule.template)
        policy = {key: value for key, value in keys.get("policy", {}).items() if key != "yieldWhen"}
        keeping = {key: value for key, value in policy.items() if key != "yield"}  # of the objects for which `yieldWhen` does not hold
        return {"template": rule.template, "kind": template.kind if template else "", "policy": policy, "keeping": keeping}
    if rule.verb == "patch":
        return {"of": rule.list_of("patch")}
    if rule.verb == "decide":
        return {"decision": rule.decision}
    names = {"condition": "type", "status": "template", "event": "type", "wait": "reason"}
    return {names[rule.verb]: keys[rule.verb]} if rule.verb in names else {}


def _default_paths(rule: Rule) -> list[Any]:
    paths = []
    for text in rule.list_of("default"):
        try:
            paths.append(parse_default_path(text))
        except ValueError as error:
            rule.source.fail(("default",), str(error))
    return paths
