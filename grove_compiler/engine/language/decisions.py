"""Checks that each decision that the vocabulary declares is made by exactly one rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from grove_compiler.engine.expressions.expression_syntax import ExpressionError, names_in
from grove_compiler.engine.language.rule import Rule, RuleSet, as_expression
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest


def check_decisions(rule_set: RuleSet, declared: Mapping[str, Any], former: Mapping[str, str]) -> None:
    """Reports decisions that no rule or several rules make, and rules for decisions that are not declared.

    `former` says for decisions of earlier releases what has their place.
    """
    deciding: dict[str, Rule] = {}
    for rule in rule_set.rules:
        if rule.verb != "decide":
            continue
        name = rule.decision
        if name in former:
            rule.source.fail(("decide",), f"{name!r} is no decision any more: {former[name]}")
        elif name not in declared:
            message = f"there is no decision {name!r}; there are {', '.join(sorted(declared)) or 'none'}"
            rule.source.fail(("decide",), message, nearest(name, declared))
        elif name in deciding:
            other = deciding[name]
            message = f"{name!r} is decided by {other.id!r} already, in {other.source.file}:{other.line}; a rule of that id replaces it"
            rule.source.fail(("decide",), message)
        deciding.setdefault(name, rule)
    for name in declared:
        if name not in deciding:
            _report_undecided(name, rule_set)


def _report_undecided(name: str, rule_set: RuleSet) -> None:
    for rule, at in rule_set.disabled.values():
        if rule.decision == name:
            at.fail(f"{rule.id!r} cannot be taken out, for nothing else decides {name!r}; a rule of that id replaces it")
            return
    rule_set.problems.append(Diagnostic("rules/invalid", "error", f"no rule decides {name!r}; one has to say `decide: {name}`"))


def rests_on(rule: Rule, deciding: Iterable[Rule]) -> list[str]:
    """Returns the ids of the rules whose decisions a decision calls, of all that take one."""
    given = rule.keys.get("cases")
    cases = [case for case in given if isinstance(case, dict)] if isinstance(given, list) else []
    expressions = [rule.keys.get("value"), *rule.named("let").values(), *(case.get(key) for case in cases for key in ("when", "value"))]
    names: set[str] = set()
    for expression in expressions:
        with suppress(ExpressionError):  # reported when it is written
            names |= names_in(as_expression(expression))
    return [other.id for other in deciding if other.decision in names]
