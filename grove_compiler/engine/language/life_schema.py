"""Checks lives: their form, and that each state can be reached and left, and each transition can fire."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grove_compiler.engine.language.keys import LIFE_KEYS, LIFE_VERBS, OBSERVED_TRANSITION_KEYS, STATE_KEYS, TRANSITION_KEYS
from grove_compiler.engine.language.life import Life, Transition, maps, read_life
from grove_compiler.engine.language.place import RuleFile
from grove_compiler.engine.language.rule_schema import RULE_ID, article, check_cases, check_keys, effect_keys
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from kube_objects.manifest import mapping

OWN_NAMES = ("state", "transition", "next")
STATE = re.compile(r"[A-Z][A-Za-z0-9]*")


def check_life(keys: dict[str, Any], file: RuleFile) -> Life:
    """Reports everything that is wrong with a life to its file; returns the life, as far as it has the right form."""
    check_keys(keys, LIFE_KEYS, (), file, "a life")
    life = read_life(keys)
    if "life" in keys and not RULE_ID.fullmatch(life.id):
        file.fail(("life",), f"an id is lower-case words with `-` and `/` between them, as in `training/job`; found {life.id!r}")
    for key in ("forEach", "let"):
        for word in OWN_NAMES:
            if word in mapping(keys.get(key)):
                file.fail((key, word), f"{word!r} is a name that each life has")
    _check_states(keys, life, file)
    for number, entry in enumerate(maps(keys.get("transitions"))):
        is_made_by_cluster = "observed" in entry
        allowed = OBSERVED_TRANSITION_KEYS if is_made_by_cluster else TRANSITION_KEYS
        what = "a transition that the cluster makes" if is_made_by_cluster else "a transition"
        check_keys(entry, allowed, ("transitions", number), file, what)
    for path, effects in _effect_lists(keys):
        if "decide" in keys:
            file.fail(path, "a life that is a decision has no effects: it only gives the next state")
        for number, effect in enumerate(maps(effects)):
            _check_effect(effect, (*path, number), file)
    if not file.broken:
        _check_transitions(life, file)
    return life


def _check_states(keys: dict[str, Any], life: Life, file: RuleFile) -> None:
    for name, state in mapping(keys.get("states")).items():
        if not STATE.fullmatch(str(name)):
            file.fail(("states", name), f"{name!r} is not the name of a state: one word in CamelCase")
        if isinstance(state, dict):
            check_keys(state, STATE_KEYS, ("states", name), file, "a state")
        elif not isinstance(state, str) or not state.strip():
            file.fail(("states", name), "a state is a line of text that says what it means, or a map with `doc`")
    for one in life.transitions:
        for word, key in (*((source, "from") for source in one.sources), (one.target, "to")):
            if word and word not in life.states:
                file.fail((*one.path, key), f"there is no state {word!r}; there are {', '.join(life.states)}", nearest(word, life.states))


def _check_effect(effect: dict[str, Any], path: FieldPath, file: RuleFile) -> None:
    verbs = [verb for verb in LIFE_VERBS if verb in effect]
    if len(verbs) != 1:
        has = " and ".join(verbs) or "none"
        file.fail(path, f"an effect has exactly one verb of {', '.join(LIFE_VERBS)}; this one has {has}")
        return
    check_keys(effect, effect_keys(verbs[0]), path, file, f"{article(verbs[0])} {verbs[0]} effect")
    check_cases(effect.get("cases"), False, (*path, "cases"), file)


def _check_transitions(life: Life, file: RuleFile) -> None:
    """Reports transitions that cannot be told apart or never fire, and states that cannot be reached or left."""
    seen: list[Transition] = []
    for one in life.decided:
        if not STATE.fullmatch(one.name):
            file.fail((*one.path, "name"), f"{one.name!r} is not the name of a transition: one word in CamelCase")
        if any(other.name == one.name for other in seen):
            file.fail((*one.path, "name"), f"there is already a transition {one.name!r}")
        if not one.target:
            file.fail(one.path, "a transition from several states needs the key `to`")
        hides = [other for other in seen if _hides(other, one)]
        if hides:
            file.fail(one.path, f"{one.name} never fires: {hides[0].name}, which comes first, fires whenever it would")
        seen.append(one)
    first = next(iter(life.states), "")
    reached, left = {first, *(one.target for one in life.transitions)}, {source for one in life.transitions for source in one.sources}
    for name in life.states:
        at: FieldPath = ("states", name)
        if name not in reached:
            file.fail(at, f"no transition leads to the state {name!r}")
        if name not in left and name not in life.final:
            file.fail(at, f"no transition leaves the state {name!r}; if that is meant, say `final: true`")
        if name in left and name in life.final:
            file.fail(at, f"the state {name!r} is final, but a transition leaves it")


def _hides(earlier: Transition, later: Transition) -> bool:
    """Reports whether a transition fires whenever a later one from the same states would."""
    conditions = [" ".join(str(text).split()) for text in later.when]
    is_weaker = all(" ".join(str(text).split()) in conditions for text in earlier.when)
    return set(later.sources) <= set(earlier.sources) and is_weaker and earlier.at in (None, later.at)


def _effect_lists(keys: dict[str, Any]) -> Iterator[tuple[FieldPath, Any]]:
    """Yields each list of effects with its path."""
    if "always" in keys:
        yield ("always",), keys["always"]
    for name, state in mapping(keys.get("states")).items():
        if isinstance(state, dict) and "while" in state:
            yield ("states", name, "while"), state["while"]
    for number, entry in enumerate(maps(keys.get("transitions"))):
        if "then" in entry:
            yield ("transitions", number, "then"), entry["then"]
