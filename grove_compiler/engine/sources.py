"""What the engine is given: rule and template texts, and the names that they may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record

BUILT_IN = "grove"
"""The origin of the rules and templates of this project."""

NOW: dict[str, Any] = {"now": float}
"""The root that holds the time, in seconds since the epoch."""


class RuleSource(NamedTuple):
    """One file of rules or one template.

    `file` tells which by its first folder, `rules/` or `templates/`, and is how errors name it. `origin` says whose it is: `grove`
    for the built-in rules, otherwise the user's folder.
    """

    file: str
    text: str
    origin: str

    @property
    def is_template(self) -> bool:
        return self.file.startswith("templates/")

    @property
    def is_metered(self) -> bool:
        """Whether what it makes is counted by size, as well as what it goes through."""
        return self.origin != BUILT_IN

    @property
    def template_name(self) -> str:
        """What `generate` calls it."""
        return self.file.removeprefix("templates/")


@record
class SubjectNames:
    """A kind of input that rules may be about: the names that it brings, and those of validations on update besides."""

    roots: Mapping[str, Any]
    update_roots: Mapping[str, Any] = field(default_factory=dict)


@record
class Vocabulary:
    """The names that rules may use besides their own.

    `roots` maps each name to its Python type, from which the types of all attributes follow; `functions` are pure and may be called
    as `name(x, …)` or as a filter, `x | name(…)`. `subjects` are the kinds of input that a rule may be `about`, with the names that
    only its rules see; the first is that of rules which do not say.
    `slices` is the expression of a list, such as `set.replicas`: rules whose outermost loop runs over it can be evaluated for one item.
    `decisions` are what `decide` rules decide: functions without bodies, whose parameters are all that a rule may rest it on, whose
    return annotation is the type of what is decided, and whose docstring says what that is. `words` are what rules call parameters
    that have other names in Python. `former_decisions` says for decisions of earlier releases what has their place.
    """

    roots: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    subjects: Mapping[str, SubjectNames] = field(default_factory=dict)
    slices: str = ""
    decisions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    former_decisions: Mapping[str, str] = field(default_factory=dict)

    @property
    def root_names(self) -> list[str]:
        """Every root of any rule, each once, in a fixed order: the parameters of the functions that rules become."""
        of_subjects = [roots for subject in self.subjects.values() for roots in (subject.roots, subject.update_roots)]
        return list(dict.fromkeys(word for roots in (self.roots, *of_subjects, NOW) for word in roots))

    def in_scope(self, about: Sequence[str], update: bool = False, now: bool = False) -> dict[str, Any]:
        """The roots of a rule about these kinds: what is common to all of them. `now` is for rules about what runs."""
        subjects = [self.subjects[kind] for kind in about if kind in self.subjects]
        names = [{**subject.roots, **(subject.update_roots if update else {})} for subject in subjects] or [{}]
        common = {word: kind for word, kind in names[0].items() if all(other.get(word) == kind for other in names)}
        return {**self.roots, **common, **(NOW if now else {})}


class InvalidRules(Exception):
    """Rules or templates that cannot be used. `diagnostics` holds every reason, with file and line."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        super().__init__("; ".join(f"{finding.place}: {finding.message}" for finding in diagnostics))
