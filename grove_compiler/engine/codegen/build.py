"""Rule and template texts to a program: load, check, order, write, compile. The cold start; the only user of Jinja2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from grove_compiler.engine.codegen.module_codegen import ModuleWriter
from grove_compiler.engine.codegen.rule_codegen import RuleWriter
from grove_compiler.engine.language import ordering
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.runtime.defaults import parse_default_path
from grove_compiler.engine.runtime.program import MODULE, Program, RuleInfo
from grove_compiler.engine.sources import InvalidRules, RuleSource, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest


@dataclass(slots=True, eq=False)
class Compiled:
    """Rules in the order in which they run, the module that runs them, and for each of its lines the number of its place, or -1."""

    rules: list[RuleInfo]
    code: CodeType
    lines: tuple[int, ...]
    places: list[tuple[str, int]]


def build(sources: Sequence[RuleSource], vocabulary: Vocabulary) -> Program:
    """The program of all sources; later ones replace earlier ones by id. Raises `InvalidRules` with everything that is wrong."""
    compiled = compile_rules(load(sources), vocabulary)
    return Program(compiled.rules, compiled.code, compiled.lines, compiled.places, vocabulary)


def compile_rules(found: RuleSet, vocabulary: Vocabulary, traced: bool = False, counted: bool = False) -> Compiled:
    """The rules as one Python module, which may trace values or count patches. Raises `InvalidRules` with everything that is wrong."""
    rules = ordering.in_apply_order(found)
    module = ModuleWriter()
    writer = RuleWriter(vocabulary, module, traced, counted)
    usable = [(index, rule) for index, rule in enumerate(rules) if rule.usable]
    for index, rule in usable:
        writer.write(index, rule, found.templates, _patches_of(rule, found))
    _report_idle_patches(found)
    infos = [_info(rule, rules, found, vocabulary) for _, rule in usable]
    source, lines = module.finish()
    code = None if found.problems else _code_of(source)
    if not found.problems and code is None:
        _report_too_deep(found, vocabulary, traced)
    if code is None:
        raise InvalidRules(sorted(found.problems, key=lambda finding: (finding.file, finding.line)))
    return Compiled(infos, code, lines, module.places)


def _code_of(source: str) -> CodeType | None:
    """The module, compiled; none when it is nested too deeply for Python, though each expression by itself is not."""
    try:
        return compile(source, MODULE, "exec", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError):
        return None


def _report_too_deep(found: RuleSet, vocabulary: Vocabulary, traced: bool) -> None:
    for rule in found.rules:
        module = ModuleWriter()
        RuleWriter(vocabulary, module, traced).write(0, rule, found.templates, _patches_of(rule, found))
        if _code_of(module.finish()[0]) is None:
            rule.source.fail((), f"the rule {rule.id!r}, with its template and patches, is nested too deeply: at most 20 loops, 90 levels")
    if not found.problems:
        found.problems.append(Diagnostic("rules/invalid", "error", "all rules together are too large for Python"))


def _patches_of(rule: Rule, found: RuleSet) -> list[Rule]:
    """The patches that change the objects of a rule."""
    patches = [patch for patch in found.rules if patch.verb == "patch" and patch.usable]
    return [patch for patch in patches if rule.verb == "generate" and _applies(patch, rule, found)]


def _applies(patch: Rule, rule: Rule, found: RuleSet) -> bool:
    template = found.templates.get(str(rule.keys["generate"]))
    kind = template.kind if template else ""
    return any(ordering.matches(word, rule.id) if "/" in word else word == kind for word in patch.words("patch"))


def _report_idle_patches(found: RuleSet) -> None:
    """Words of patches that mean no kind and no rule. What only disabled rules would generate is no mistake."""
    kinds = sorted({template.kind for template in found.templates.values()} - {""})
    ids = [*(rule.id for rule in found.rules if rule.verb == "generate"), *found.disabled]
    for patch in found.rules:
        for word in patch.words("patch") if patch.verb == "patch" and patch.usable else ():
            if word not in kinds and not any("/" in word and ordering.matches(word, id) for id in ids):
                message = f"no rule generates {word!r}; there are the kinds {', '.join(kinds)}, and ids of rules"
                patch.source.fail(("patch",), message, nearest(word, [*kinds, *ids]))


def _info(rule: Rule, rules: list[Rule], found: RuleSet, vocabulary: Vocabulary) -> RuleInfo:
    loops = tuple((word, " ".join(text.split())) for word, text in rule.named("forEach").items())
    after = ordering.joins(rule, rules)
    about = rule.about(vocabulary.subjects)
    for word in about:
        if word not in vocabulary.subjects:
            message = f"rules cannot be about {word!r}; there are {', '.join(vocabulary.subjects) or 'no kinds'}"
            rule.source.fail(("about",), message, nearest(word, vocabulary.subjects))
    details = {**_details(rule, found), "about": about}
    if rule.verb in ("generate", "condition"):
        details["sliced"] = rule.is_sliced(vocabulary)
    return RuleInfo(rule.id, rule.doc, rule.verb, rule.origin, rule.source.file, rule.line, loops, after, details)


def _details(rule: Rule, found: RuleSet) -> dict[str, Any]:
    """The keys of a rule that are data."""
    keys = rule.keys
    if rule.verb == "default":
        return {"of": rule.words("of"), "paths": _default_paths(rule), "absent": keys.get("absent", [])}
    if rule.verb == "validate":
        return {"operations": rule.words("validate"), "type": keys.get("type", ""), "severity": keys.get("severity", "error")}
    if rule.verb == "generate":
        template = found.templates.get(keys["generate"])
        return {"template": keys["generate"], "kind": template.kind if template else "", "policy": keys.get("policy", {})}
    if rule.verb == "patch":
        return {"of": rule.words("patch")}
    return {"type": keys["condition"]}


def _default_paths(rule: Rule) -> list[Any]:
    paths = []
    for text in rule.words("default"):
        try:
            paths.append(parse_default_path(text))
        except ValueError as error:
            rule.source.fail(("default",), str(error))
    return paths
