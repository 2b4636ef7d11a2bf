"""Which rule runs before which: `after` as edges between rules, levels in linear time, a cycle as an error with its path."""

from __future__ import annotations

from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.graph.nearest import nearest


def in_apply_order(found: RuleSet) -> list[Rule]:
    """Rules by level, and inside a level in the order in which they are written. A cycle is reported to the file of its first rule."""
    rules = {rule.id: rule for rule in found.rules}
    before = {rule.id: _named(rule, found.rules, found.disabled) for rule in found.rules}
    levels: dict[str, int] = {}
    for id in before:
        _visit(id, before, levels, rules)
    return sorted(found.rules, key=lambda rule: levels[rule.id])


def joins(rule: Rule, rules: list[Rule]) -> tuple[tuple[str, int], ...]:
    """For each rule that comes first, how many leading loops are the same in both: objects wait only for those of the same items."""
    return tuple(
        (other.id, _shared(rule, other))
        for other in rules
        if any(matches(word, other.id) for word in rule.words("after")) and other is not rule
    )


def matches(pattern: str, id: str) -> bool:
    """Whether a rule's id is meant by a word: the id itself, or `topic/*`."""
    return id.startswith(pattern[:-1]) if pattern.endswith("/*") else pattern == id


def _named(rule: Rule, rules: list[Rule], disabled: list[str]) -> list[str]:
    """The ids that `after` means. What is disabled is not waited for; a word that means nothing is a mistake."""
    ids = []
    generating = [other.id for other in rules if other.verb == "generate"]
    for position, word in enumerate(rule.words("after")):
        found = [id for id in generating if matches(word, id) and id != rule.id]
        if word == rule.id:
            rule.source.fail(("after", position), "a rule cannot come after itself")
        elif not found and not any(matches(word, id) for id in (rule.id, *disabled)):
            rule.source.fail(("after", position), f"no rule that generates objects is called {word!r}", nearest(word, generating))
        ids += found
    return ids


def _shared(rule: Rule, other: Rule) -> int:
    count = 0
    for mine, theirs in zip(rule.named("forEach").items(), other.named("forEach").items(), strict=False):
        if (mine[0], mine[1].split()) != (theirs[0], theirs[1].split()):
            break
        count += 1
    return count


def _visit(start: str, before: dict[str, list[str]], levels: dict[str, int], rules: dict[str, Rule]) -> None:
    """Depth first without recursion; `path` is the chain that is being followed."""
    path: list[str] = []
    stack = [(start, False)]
    while stack:
        id, done = stack.pop()
        if done:
            path.pop()
            levels[id] = 1 + max((levels.get(other, 0) for other in before[id]), default=-1)
        elif id in path:
            cycle = [*path[path.index(id) :], id]
            rules[id].source.fail(("after",), "rules that wait for each other: " + " after ".join(cycle))
        elif id not in levels:
            path.append(id)
            stack.append((id, True))
            stack += [(other, False) for other in before[id]]
