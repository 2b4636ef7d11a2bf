"""Reads lives: documents that list the states of something that changes over time, and its transitions in order of precedence.

A life becomes rules when it is loaded, one for each of its effects, so that all that works for rules works for it: types, places in
messages, replacement, `explain`. An effect is a rule without an id of its own; it runs where its state holds or its transition is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from grove_compiler.engine.language.keys import LIFE_VERBS, Verb
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.record import record
from grove_compiler.source.document import Document
from kube_objects.manifest import mapping


@record
class Transition:
    """A way from states to another one, taken where `at` is over and all of `when` hold. `path` is its place in the document.

    One that is `observed` is made by the cluster: the words say what happens there, and no rule has a part in it.
    """

    name: str
    sources: list[str]
    target: str
    at: Any
    when: list[Any]
    path: FieldPath
    doc: str = ""
    observed: str = ""


@record
class Life:
    """The states of something and its transitions, in order of precedence. `states` maps each state to what it means."""

    id: str
    doc: str
    state: str
    states: dict[str, str]
    final: frozenset[str]
    transitions: list[Transition]

    @property
    def decided(self) -> list[Transition]:
        """The transitions that the life takes itself; the cluster makes the others."""
        return [one for one in self.transitions if not one.observed]

    @property
    def next_state(self) -> str:
        """The expression of the state after the transition that is taken: the same state where none is."""
        ways: dict[str, list[str]] = {}
        for one in self.decided:
            ways.setdefault(one.target, []).append(one.name)
        targets = "".join(f"{target!r} if transition in {names!r} else " for target, names in ways.items())
        return f"{targets}state"

    def is_in(self, states: list[str]) -> str:
        """Returns the expression of being in one of these states."""
        return f"state == {states[0]!r}" if len(states) == 1 else f"state in {states!r}"


@record
class LifeRule:
    """A rule that an effect of a life became: its id, verb and keys, and the document that knows their places in the life."""

    id: str
    doc: str
    verb: Verb
    document: DerivedDocument


@record
class DerivedDocument(Document):
    """The document of a rule that is a part of another document, `base`. `paths` maps paths of the rule to those of the base."""

    base: Document = field(default_factory=lambda: Document(None))
    paths: dict[FieldPath, FieldPath] = field(default_factory=dict)

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Returns line and column of a path of the rule in the file."""
        return self.base.place(self.path_in_file(path))

    def path_in_file(self, path: FieldPath) -> FieldPath:
        """Returns the path in the base: that of the longest prefix that is mapped, and what follows it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.paths:
                return (*self.paths[path[:length]], *path[length:])
        return path


def read_life(keys: dict[str, Any]) -> Life:
    """Reads the states and transitions of a life, as far as they have the right form."""
    states, final = {}, set()
    for name, state in mapping(keys.get("states")).items():
        states[str(name)] = str(state.get("doc", "")) if isinstance(state, dict) else str(state)
        if isinstance(state, dict) and state.get("final") is True:
            final.add(str(name))
    transitions = []
    for number, entry in enumerate(maps(keys.get("transitions"))):
        sources = [str(source) for source in _list(entry.get("from"))]
        target = str(entry.get("to") or (sources[0] if len(sources) == 1 else ""))
        name, path = str(entry.get("name", "")), ("transitions", number)
        words = str(entry.get("doc", "")), str(entry.get("observed", ""))
        transitions.append(Transition(name, sources, target, entry.get("at"), _list(entry.get("when")), path, *words))
    state = str(keys.get("state") or repr(next(iter(states), "")))
    return Life(str(keys.get("life", "")), str(keys.get("doc", "")), state, states, frozenset(final), transitions)


def rules_of_life(document: Document) -> list[LifeRule]:
    """Returns the rules that a life becomes: its decision, or one rule for each of its effects and for each time of a transition."""
    keys = document.value
    life = read_life(keys)
    if "decide" in keys:
        return [_decision(life, document)]
    rules: list[LifeRule] = []
    effects = [*_effects(life, keys), *_requeues(life)]
    ids = _ids(effects)
    before: list[str] = []  # statuses are written before deletions that follow from them, and deletions keep their order
    for rule_id, (_, verb, effect, path, guards, doc) in zip(ids, effects, strict=True):
        derived, paths = _with_shared(keys, effect, path, guards)
        derived.setdefault("let", {}).update({"state": life.state})
        paths["let", "state"] = ("state",)
        if verb == "event" and "of" not in derived and "of" in keys:
            derived["of"], paths["of",] = keys["of"], ("of",)
        if verb == "delete" and before:
            derived.setdefault("after", list(before))
        if verb in ("status", "delete"):
            before.append(rule_id)
        rules.append(LifeRule(rule_id, doc, verb, _derived(document, derived, paths)))
    return rules


_Effect = tuple[str, Verb, dict[str, Any], FieldPath, list[tuple[str, FieldPath]], str]
"""An effect: the id of what it belongs to, its verb, keys and path, its guards with their paths, and its documentation."""


def _effects(life: Life, keys: dict[str, Any]) -> Iterator[_Effect]:
    """Yields the effects of a life: those of every step, those of a state, and those of a transition, in the order of the document."""
    yield from _listed(life.id, keys.get("always"), ("always",), [], life.doc)
    for name, state in mapping(keys.get("states")).items():
        if isinstance(state, dict):
            path: FieldPath = ("states", name)
            guard = [(f"state == {str(name)!r}", path)]
            yield from _listed(f"{life.id}/{kebab(str(name))}", state.get("while"), (*path, "while"), guard, life.states[str(name)])
    for entry, one in zip(maps(keys.get("transitions")), life.transitions, strict=True):
        guard = [(f"transition == {one.name!r}", (*one.path, "name"))]
        yield from _listed(f"{life.id}/{kebab(one.name)}", entry.get("then"), (*one.path, "then"), guard, one.doc or life.doc)


def _listed(owner: str, effects: Any, path: FieldPath, guards: list[tuple[str, FieldPath]], doc: str) -> Iterator[_Effect]:
    for number, effect in enumerate(maps(effects)):
        verb = next((verb for verb in LIFE_VERBS if verb in effect), None)
        if verb is not None:
            yield owner, verb, effect, (*path, number), guards, str(effect.get("doc") or doc)


def _requeues(life: Life) -> Iterator[_Effect]:
    """Yields a requeue for each transition at a time, since no watch event marks it."""
    for one in life.decided:
        if one.at is not None:
            path = (*one.path, "at")
            guards = [(life.is_in(one.sources), (*one.path, "from")), (f"({one.at}) is not none and now < ({one.at})", path)]
            yield f"{life.id}/{kebab(one.name)}", "requeue", {"requeue": one.at}, path, guards, one.doc or life.doc


def _ids(effects: list[_Effect]) -> list[str]:
    """Returns an id for each effect: that of its owner and its verb, with a number where there are several."""
    ids: list[str] = []
    for owner, verb, effect, *_ in effects:
        stem = f"{owner}/{kebab(str(effect['condition']))}" if verb == "condition" else f"{owner}/{verb}"
        ids.append(next(one for one in (stem, *(f"{stem}-{number}" for number in range(2, len(effects) + 2))) if one not in ids))
    return ids


def _with_shared(
    keys: dict[str, Any], effect: dict[str, Any], path: FieldPath, guards: list[tuple[str, FieldPath]]
) -> tuple[dict[str, Any], dict[FieldPath, FieldPath]]:
    """Returns the keys of an effect's rule, with the loops, names and conditions of its life, and the paths of all of them."""
    paths: dict[FieldPath, FieldPath] = {(): path, ("rule",): path, ("transitions",): ("transitions",), ("life",): ("life",)}
    rule = {key: value for key, value in effect.items() if key not in ("forEach", "let", "when", "doc")}
    for key in ("forEach", "let"):
        rule[key] = {**mapping(keys.get(key)), **mapping(effect.get(key))}
        paths |= {(key, name): (key, name) for name in mapping(keys.get(key)) if name not in mapping(effect.get(key))}
    if "about" in keys:
        rule["about"], paths["about",] = keys["about"], ("about",)
    conditions = [(text, ("when", *step)) for text, step in _steps(keys.get("when"))]
    conditions += [*guards, *((text, (*path, "when", *step)) for text, step in _steps(effect.get("when")))]
    rule["when"] = [text for text, _ in conditions]
    paths |= {("when", number): place for number, (_, place) in enumerate(conditions)}
    return {key: value for key, value in rule.items() if value != {} and value != []}, paths


def _decision(life: Life, document: Document) -> LifeRule:
    """Returns the `decide` rule of a life that the model asks: it gives the next state."""
    keys = document.value
    paths: dict[FieldPath, FieldPath] = {("rule",): ("life",), ("life",): ("life",)}
    cases: list[dict[str, Any]] = []
    for number, one in enumerate(life.decided):
        condition = " and ".join([life.is_in(one.sources), *(f"({text})" for text in one.when)])
        cases.append({"when": condition, "value": repr(one.target)})
        paths |= {("cases", number): one.path, ("cases", number, "when"): (*one.path, "when")}
    paths["cases", len(cases)] = paths["cases", len(cases), "value"] = ("state",)
    cases.append({"value": "state"})
    lets = {**mapping(keys.get("let")), "state": life.state}
    paths["let", "state"] = ("state",)
    derived = _derived(document, {"decide": keys["decide"], "let": lets, "cases": cases}, paths)
    return LifeRule(life.id, life.doc, "decide", derived)


def _derived(base: Document, keys: dict[str, Any], paths: dict[FieldPath, FieldPath]) -> DerivedDocument:
    return DerivedDocument(keys, base.file, base.index, base.line, base=base, paths=paths)


def kebab(word: str) -> str:
    """Returns a word in CamelCase in the form of ids: `MaxRuntimeExceeded` as `max-runtime-exceeded`, `TTLExpired` as `ttl-expired`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", word).lower()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def maps(value: Any) -> list[dict[str, Any]]:
    """Returns the maps of a list, an empty one for what is none; nothing where there is no list, which is reported elsewhere."""
    return [entry if isinstance(entry, dict) else {} for entry in value] if isinstance(value, list) else []


def _steps(value: Any) -> list[tuple[Any, FieldPath]]:
    """Returns the expressions of a key that holds one or a list of them, each with its path below the key."""
    return [(text, (number,)) for number, text in enumerate(value)] if isinstance(value, list) else [] if value is None else [(value, ())]
