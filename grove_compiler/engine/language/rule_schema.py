"""Checks the form of rules: unknown keys, missing ones, and values of the wrong type. `build` checks expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from grove_compiler.engine.language.keys import (
    CASE_KEYS,
    COMMON_KEYS,
    DECISION_CASE_KEYS,
    FORMS,
    OPERATION_KEYS,
    POLICY_KEYS,
    RENAMED,
    VERB_KEYS,
    Form,
    RuleKey,
    Verb,
    is_name,
)
from grove_compiler.engine.language.life import maps
from grove_compiler.engine.language.place import RuleFile
from grove_compiler.engine.language.rule import Constant, Rule, Template, find_field
from grove_compiler.engine.language.template_ast import Field, Include, MapNode
from grove_compiler.engine.runtime.access import describe
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.nearest import nearest

CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
RULE_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)*")


def check_rule(rule: Rule) -> None:
    """Reports everything that is wrong with the form of a rule to its file."""
    check_keys(rule.keys, keys_of(rule.verb), (), rule.source, f"{article(rule.verb)} {rule.verb} rule")
    if "rule" in rule.keys and not RULE_ID.fullmatch(rule.id):
        message = f"an id is lower-case words with `-` and `/` between them, as in `podgang/base`; found {rule.id!r}"
        rule.source.fail(("rule",), message)
    for number, operation in enumerate(maps(rule.keys.get("do"))):
        check_keys(operation, OPERATION_KEYS, ("do", number), rule.source, "an operation")
    check_cases(rule.keys.get("cases"), rule.verb == "decide", ("cases",), rule.source)
    if isinstance(rule.keys.get("policy"), dict):
        check_keys(rule.keys["policy"], POLICY_KEYS, ("policy",), rule.source, "`policy`")
    if rule.verb == "decide" and ("value" in rule.keys) == ("cases" in rule.keys):
        rule.source.fail((), "a decide rule has either `value` or `cases`")
    check_head(rule)


def check_head(rule: Rule) -> None:
    """Reports a decision in a file whose rules have a condition: it is made whenever it is called."""
    if rule.head and rule.verb == "decide":
        rule.source.fail((), "a decision is made whenever it is called, so it cannot be in a file whose `rules` have a `when`")


def keys_of(verb: Verb) -> dict[str, RuleKey]:
    """Returns the keys that a rule of this verb may have. A decision is made whenever it is called, so it has no `when`."""
    return {**{word: key for word, key in COMMON_KEYS.items() if (verb, word) != ("decide", "when")}, **VERB_KEYS[verb]}


def effect_keys(verb: Verb) -> dict[str, RuleKey]:
    """Returns the keys that an effect of a life may have: those of a rule of this verb, without an id, and with optional documentation.

    The object of an event may be that of its life.
    """
    keys = {**{word: key for word, key in COMMON_KEYS.items() if word != "rule"}, **VERB_KEYS[verb]}
    optional = ("doc", "of") if verb == "event" else ("doc",)
    return {word: key._replace(required=False) if word in optional else key for word, key in keys.items() if word != "about"}


def article(word: str) -> str:
    """Returns the indefinite article of a word: `a` or `an`."""
    return "an" if word[0] in "aeiou" else "a"


def check_root(template: Template) -> None:
    """Reports what is missing or wrong at the top of a template, which depends on what it is: an object, a status, or a part.

    Fields that a merge or an included part may add are not reported as missing.
    """
    node = template.node
    if isinstance(node, MapNode) and template.is_part and (node.condition or node.lets):
        key = "$if" if node.condition else "$let"
        node.at.below(key).fail(f"a part has no `{key}` at its top, since it becomes part of others: write it where the part is included")
    if isinstance(node, MapNode) and not template.is_part:
        if node.condition:
            node.condition.at.fail("a template is not left out by `$if`; say `when` in the rule")
        if not template.is_status:
            _check_fields(node, "apiVersion", "kind", "metadata")
    elif not template.is_part:
        node.at.fail("a template includes its parts into a map of its own")
    metadata = None if template.is_part or template.is_status else find_field(node, "metadata")
    if metadata and isinstance(metadata.value, MapNode):
        _check_fields(metadata.value, "name")
    elif metadata and not isinstance(metadata.value, Include):
        metadata.at.fail("`metadata` must be a map")


def check_constant(name: str, constant: Constant, replaced: Constant | None) -> None:
    """Reports a constant with a wrong name or value, or whose type differs from that of the constant that it replaces."""
    if not CONSTANT.fullmatch(name):
        constant.at.fail(f"{name!r} is not the name of a constant: words in capitals with `_` between them, as in `MANAGED_BY`")
    if _holds_expressions(constant.value):
        constant.at.fail("a constant is a plain value, without {{ }} and template keys")
    if replaced is not None and replaced.origin == constant.origin:
        constant.at.fail(f"the constant {name!r} is already defined in {replaced.at.position[0]}:{replaced.at.position[1]}")
    elif replaced is not None and type(replaced.value) is not type(constant.value):
        constant.at.fail(f"the constant {name!r} is {describe(replaced.value)} in the built-in rules; found {describe(constant.value)}")


def _holds_expressions(value: Any) -> bool:
    if isinstance(value, dict):
        return any(str(key).startswith("$") or _holds_expressions(key) or _holds_expressions(part) for key, part in value.items())
    if isinstance(value, list):
        return any(map(_holds_expressions, value))
    return isinstance(value, str) and "{{" in value


def _check_fields(node: MapNode, *names: str) -> None:
    for name in names if all(isinstance(entry, Field) for entry in node.entries) else ():
        if find_field(node, name) is None:
            node.at.fail(f"a template needs `{render((*node.path, name))}`")


def check_keys(given: Mapping[str, Any], allowed: Mapping[str, RuleKey], path: FieldPath, file: RuleFile, what: str) -> None:
    """Reports keys that are unknown, missing, or of the wrong form; `what` names the map in messages."""
    for word, value in given.items():
        if word not in allowed:
            message = f"{what} has no key {word!r}; there are {', '.join(sorted(allowed))}"
            file.fail((*path, word), message, RENAMED.get(word) or nearest(word, allowed))
        else:
            _check_value(word, value, allowed[word], (*path, word), file)
    for word, key in allowed.items():
        if key.required and word not in given:
            file.fail(path, f"{what} needs the key `{word}`: {FORMS[key.form]}")


def check_cases(given: Any, is_decision: bool, path: FieldPath, file: RuleFile) -> None:
    """Reports what is wrong with the cases of a condition or a decision."""
    cases = maps(given)
    for number, case in enumerate(cases):
        check_keys(case, DECISION_CASE_KEYS if is_decision else CASE_KEYS, (*path, number), file, "a case")
        if "when" not in case and number < len(cases) - 1:
            file.fail((*path, number), "a case without `when` always holds, so the cases after it are never reached")
    if is_decision and cases and "when" in cases[-1]:
        file.fail((*path, len(cases) - 1), "something is always decided, so the last case has no `when`")


def _check_value(word: str, value: Any, key: RuleKey, path: FieldPath, file: RuleFile) -> None:
    if not _FITS[key.form](value):
        file.fail(path, f"`{word}` is {FORMS[key.form]}; found {_kind(value)}")
        return
    if key.form == "names":
        _check_names(value, path, file)
    for part in (value if isinstance(value, list) else [value]) if key.choices else ():
        if str(part) not in key.choices and "{{" not in str(part):
            message = f"`{word}` is one of {', '.join(key.choices)}; found {part!r}"
            file.fail(path, message, nearest(str(part), key.choices))


def _check_names(names: dict[str, Any], path: FieldPath, file: RuleFile) -> None:
    for name, expression in names.items():
        if not is_name(name):
            also = " (YAML reads y, n, on and off as booleans)" if name in ("true", "false") else ""
            file.fail((*path, name), f"{name!r} is not a name: letters, digits and `_`, and no word of expressions{also}")
        if not _is_scalar(expression):
            file.fail((*path, name), f"{name!r} is {FORMS['expression']}; found {_kind(expression)}")


def _kind(value: Any) -> str:
    return "nothing in it" if value in ("", [], {}) else describe(value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and value != ""


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_pointer(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(fits(part) for part in value)


def _one_or_more(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: fits(value) or _list_of(fits)(value)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


_FITS: dict[Form, Callable[[Any], bool]] = {
    "word": _is_word,
    "words": _one_or_more(_is_word),
    "pointers": _one_or_more(_is_pointer),
    "line": _is_word,
    "text": lambda value: isinstance(value, str | int | float),
    "expression": _is_scalar,
    "expressions": _one_or_more(_is_scalar),
    "names": _is_map,
    "list": lambda value: isinstance(value, list),
    "maps": _list_of(_is_map),
    "map": _is_map,
    "boolean": lambda value: isinstance(value, bool),
    "value": lambda _: True,
}
