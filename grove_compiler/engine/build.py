"""Rule and template texts to a program: load, check, order, write, compile. The cold start; the only user of Jinja2."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

from grove_compiler.engine import ordering
from grove_compiler.engine.defaulting import parse_default_path
from grove_compiler.engine.load import load
from grove_compiler.engine.module_writer import ModuleWriter
from grove_compiler.engine.program import MODULE, Program, RuleInfo
from grove_compiler.engine.rule import Rule, RuleSet
from grove_compiler.engine.rule_writer import RuleWriter
from grove_compiler.engine.sources import InvalidRules, RuleSource, Vocabulary
from grove_compiler.graph.nearest import nearest

ERROR_TYPES = ("Invalid value", "Required value", "Duplicate value", "Forbidden", "Not found", "Unsupported value")
POLICY_KEYS = ("create", "adopt", "recreate", "yield")


def build(sources: Sequence[RuleSource], vocabulary: Vocabulary) -> Program:
    """The program of all sources; later ones replace earlier ones by id. Raises `InvalidRules` with everything that is wrong."""
    found, problems = load(sources)
    if problems:
        raise InvalidRules(problems)
    infos, code, lines, places = compile_rules(found, vocabulary)
    if problems:  # filled through the rules' files while they were compiled
        raise InvalidRules(problems)
    return Program(infos, code, lines, places, vocabulary)


def compile_rules(
    found: RuleSet, vocabulary: Vocabulary, traced: bool = False
) -> tuple[list[RuleInfo], CodeType, tuple[int, ...], list[tuple[str, int]]]:
    """The rules in the order in which they run, and the module that runs them. Mistakes go to the rules' files."""
    rules = ordering.in_apply_order(found)
    module = ModuleWriter()
    writer = RuleWriter(vocabulary, module, traced)
    patches = [rule for rule in rules if rule.verb == "patch"]
    touched: set[str] = set()
    for index, rule in enumerate(rules):
        applying = [patch for patch in patches if rule.verb == "generate" and _applies(patch, rule, found)]
        touched |= {patch.id for patch in applying}
        writer.write(index, rule, found.templates, applying)
    for patch in patches:
        if patch.id not in touched:
            _report_idle(patch, found)
    infos = [_info(rule, rules, found) for rule in rules]
    source, lines = module.finish()
    return infos, compile(source, MODULE, "exec", dont_inherit=True), lines, module.places


def _applies(patch: Rule, rule: Rule, found: RuleSet) -> bool:
    template = found.templates.get(str(rule.keys["generate"]))
    kind = template.kind if template else ""
    return any(ordering.matches(word, rule.id) if "/" in word else word == kind for word in patch.words("patch"))


def _report_idle(patch: Rule, found: RuleSet) -> None:
    kinds = sorted({template.kind for template in found.templates.values()} - {""})
    word = next(iter(patch.words("patch")), "")
    message = f"no rule generates {word!r}; there are the kinds {', '.join(kinds)}, and ids of rules"
    patch.source.fail(("patch",), message, nearest(word, [*kinds, *(rule.id for rule in found.rules)]))


def _info(rule: Rule, rules: list[Rule], found: RuleSet) -> RuleInfo:
    loops = tuple((word, " ".join(text.split())) for word, text in rule.named("forEach").items())
    after = ordering.joins(rule, rules)
    return RuleInfo(rule.id, rule.doc, rule.verb, rule.origin, rule.source.file, rule.line, loops, after, _details(rule, found))


def _details(rule: Rule, found: RuleSet) -> dict[str, Any]:
    if rule.verb == "default":
        absent = rule.keys.get("absent", [])
        if not isinstance(absent, list):
            rule.source.fail(("absent",), "`absent` is a list of values")
            absent = []
        return {"of": rule.words("of"), "paths": _default_paths(rule), "absent": absent}
    if rule.verb == "validate":
        return {
            "operations": _chosen(rule, "validate", ("create", "update")),
            "type": "".join(_chosen(rule, "type", ERROR_TYPES)),
            "severity": "".join(_chosen(rule, "severity", ("error", "warning"))) or "error",
        }
    if rule.verb == "generate":
        template = found.templates.get(str(rule.keys["generate"]))
        return {"template": str(rule.keys["generate"]), "kind": template.kind if template else "", "policy": _policy(rule)}
    if rule.verb == "patch":
        return {"of": rule.words("patch")}
    return {"type": str(rule.keys["condition"])}


def _default_paths(rule: Rule) -> list[Any]:
    paths = []
    for text in rule.words("default"):
        try:
            paths.append(parse_default_path(text))
        except ValueError as error:
            rule.source.fail(("default",), str(error))
    return paths


def _chosen(rule: Rule, key: str, allowed: Sequence[str]) -> list[str]:
    words = rule.words(key)
    for word in words:
        if word not in allowed:
            rule.source.fail((key,), f"`{key}` is one of {', '.join(allowed)}; found {word!r}", nearest(word, allowed))
    return words


def _policy(rule: Rule) -> dict[str, Any]:
    policy = rule.keys.get("policy") or {}
    if not isinstance(policy, dict):
        rule.source.fail(("policy",), "`policy` is a map")
        return {}
    for key in policy:
        if key not in POLICY_KEYS:
            rule.source.fail(("policy", key), f"`policy` has no key {key!r}; there are {', '.join(POLICY_KEYS)}", nearest(key, POLICY_KEYS))
    return policy
