"""Finds the rules whose objects each patch changes."""

from __future__ import annotations

from grove_compiler.engine.language.patterns import matches
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.nearest import nearest


class Patches:
    """Matches patches with rules. A patch by rule id changes whatever that rule makes; one by kind, the objects of one kind of input.

    That input is the one that the patch is `about`, else the first for which rules make objects of the kind: a patch of the ConfigMaps of
    sets does not mean those of preflight checks, whose rules see other names.
    """

    def __init__(self, rule_set: RuleSet, vocabulary: Vocabulary) -> None:
        self._rule_set, self._subjects = rule_set, list(vocabulary.subjects)
        self._patches = [rule for rule in rule_set.rules if rule.verb == "patch" and rule.usable]
        self._words = [(patch, patch.list_of("patch")) for patch in self._patches]
        self._found: dict[str, list[Rule]] = {}  # by the id of the rule that renders
        subjects_by_kind: dict[str, set[str]] = {}
        for rule in rule_set.rules:
            subjects_by_kind.setdefault(self._kind(rule), set()).update(rule.about(self._subjects))
        self._first = {
            kind: {next((subject for subject in self._subjects if subject in generating), "")}
            for kind, generating in subjects_by_kind.items()
        }

    def of(self, rule: Rule) -> list[Rule]:
        """Returns the patches that change what a rule renders."""
        if not rule.template:
            return []
        found = self._found.get(rule.id)
        if found is None:
            found = self._found[rule.id] = [patch for patch, words in self._words if self._applies(patch, words, rule)]
        return found

    def report_idle(self) -> None:
        """Reports patches of a kind or rule that does not exist. A kind that only disabled rules generate is no mistake."""
        kinds = sorted({template.kind for template in self._rule_set.templates.values()} - {""})
        ids = [*(rule.id for rule in self._rule_set.rules if rule.verb in ("generate", "status")), *self._rule_set.disabled]
        for patch in self._patches:
            for word in patch.list_of("patch"):
                if word not in kinds and not any("/" in word and matches(word, rule_id) for rule_id in ids):
                    message = f"no rule generates {word!r}; there are the kinds {', '.join(kinds)}, and ids of rules"
                    patch.source.fail(("patch",), message, nearest(word, [*kinds, *ids]))
                elif (
                    word in kinds and patch.list_of("about") and not any(self._reaches(patch, rule, word) for rule in self._rule_set.rules)
                ):
                    patch.source.fail(("about",), f"no rule about {' or '.join(patch.list_of('about'))} generates {word!r}")

    def _applies(self, patch: Rule, words: list[str], rule: Rule) -> bool:
        return any(matches(word, rule.id) if "/" in word else self._reaches(patch, rule, word) for word in words)

    def _reaches(self, patch: Rule, rule: Rule, kind: str) -> bool:
        if self._kind(rule) != kind:
            return False
        meant = set(patch.list_of("about")) or self._first[kind]
        return not self._subjects or not meant.isdisjoint(rule.about(self._subjects))

    def _kind(self, rule: Rule) -> str:
        template = self._rule_set.templates.get(rule.template) if rule.verb == "generate" else None
        return template.kind if template else ""
