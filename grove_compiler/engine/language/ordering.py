"""Orders rules by `after`: its ids are edges, levels are computed in linear time, and a cycle is an error that prints its path."""

from __future__ import annotations

from grove_compiler.engine.language.decisions import rests_on
from grove_compiler.engine.language.keys import Verb
from grove_compiler.engine.language.patterns import matches
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.graph.nearest import nearest

_FIRST: dict[Verb, tuple[tuple[Verb, ...], str]] = {
    "generate": (("generate",), "generates objects"),
    "delete": (("delete", "status"), "deletes or writes a status"),
}
"""For each verb that has `after`: the verbs of the rules that may come first, and what those do, for messages."""


def in_apply_order(rule_set: RuleSet) -> list[Rule]:
    """Sorts rules by level, and inside a level in the order in which they are written. Reports a cycle in the file of its first rule."""
    rules = {rule.id: rule for rule in rule_set.rules}
    before = {rule.id: _before(rule, rule_set) for rule in rule_set.rules}
    levels: dict[str, int] = {}
    for rule_id in before:
        _visit(rule_id, before, levels, rules)
    return sorted(rule_set.rules, key=lambda rule: levels[rule.id])


def joins(rule: Rule, rules: list[Rule]) -> tuple[tuple[str, int], ...]:
    """Returns, for each rule in `after`, how many leading loops both share: objects wait only for those of the same items."""
    verbs, _ = _FIRST.get(rule.verb, ((), ""))
    return tuple(
        (other.id, _shared(rule, other))
        for other in rules
        if other.verb in verbs and any(matches(word, other.id) for word in rule.list_of("after")) and other is not rule
    )


def _before(rule: Rule, rule_set: RuleSet) -> list[str]:
    """Returns the ids of the rules that come before a rule: those that match `after`, or whose decisions it calls.

    A disabled rule is not waited for. A pattern that matches nothing is reported.
    """
    if rule.verb == "decide":
        return rests_on(rule, rule_set.rules)
    ids = []
    verbs, do = _FIRST.get(rule.verb, ((), ""))
    known = [other.id for other in rule_set.rules if other.verb in verbs]
    for position, word in enumerate(rule.list_of("after")):
        meant = [rule_id for rule_id in known if matches(word, rule_id) and rule_id != rule.id]
        if word == rule.id:
            rule.source.fail(("after", position), "a rule cannot come after itself")
        elif not meant and not any(matches(word, rule_id) for rule_id in (rule.id, *rule_set.disabled)):
            rule.source.fail(("after", position), f"no rule that {do} is called {word!r}", nearest(word, known))
        ids += meant
    return ids


def _shared(rule: Rule, other: Rule) -> int:
    count = 0
    for mine, theirs in zip(rule.named("forEach").items(), other.named("forEach").items(), strict=False):
        if (mine[0], mine[1].split()) != (theirs[0], theirs[1].split()):
            break
        count += 1
    return count


def _visit(start: str, before: dict[str, list[str]], levels: dict[str, int], rules: dict[str, Rule]) -> None:
    """Computes levels depth first, without recursion (a chain may be long); `path` is the chain being followed."""
    path: list[str] = []
    stack = [(start, False)]
    while stack:
        rule_id, done = stack.pop()
        if done:
            path.pop()
            levels[rule_id] = 1 + max((levels.get(other, 0) for other in before[rule_id]), default=-1)
        elif rule_id in path:
            cycle = [*path[path.index(rule_id) :], rule_id]
            if rules[rule_id].verb == "decide":
                rules[rule_id].source.fail(("decide",), "decisions that rest on each other: " + " on ".join(cycle))
            else:
                rules[rule_id].source.fail(("after",), "rules that wait for each other: " + " after ".join(cycle))
        elif rule_id not in levels:
            path.append(rule_id)
            stack.append((rule_id, True))
            stack += [(other, False) for other in before[rule_id]]
