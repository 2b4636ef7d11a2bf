"""The form of rules: unknown keys, missing ones, and values of the wrong kind. What expressions say is checked in `build`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from grove_compiler.engine.language.keys import CASE_KEYS, COMMON_KEYS, FORMS, OPERATION_KEYS, POLICY_KEYS, VERB_KEYS, Form, Key, is_name
from grove_compiler.engine.language.rule import Rule
from grove_compiler.engine.language.rule_file import RuleFile
from grove_compiler.engine.runtime.access import describe
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)*")


def check_rule(rule: Rule) -> None:
    """Reports everything that is wrong with the form of a rule to its file."""
    check_keys(rule.keys, {**COMMON_KEYS, **VERB_KEYS[rule.verb]}, (), rule.source, f"a {rule.verb} rule")
    if "rule" in rule.keys and not _ID.fullmatch(rule.id):
        message = f"an id is lower-case words with `-` and `/` between them, as in `podgang/base`; found {rule.id!r}"
        rule.source.fail(("rule",), message)
    for number, operation in enumerate(_maps(rule, "do")):
        check_keys(operation, OPERATION_KEYS, ("do", number), rule.source, "an operation")
    _check_cases(_maps(rule, "cases"), rule.source)
    if isinstance(rule.keys.get("policy"), dict):
        check_keys(rule.keys["policy"], POLICY_KEYS, ("policy",), rule.source, "`policy`")


def check_keys(given: Mapping[str, Any], allowed: Mapping[str, Key], path: FieldPath, file: RuleFile, what: str) -> None:
    """Reports keys that are unknown, missing, or of the wrong form; `what` names the map in messages."""
    for word, value in given.items():
        if word not in allowed:
            message = f"{what} has no key {word!r}; there are {', '.join(sorted(allowed))}"
            file.fail((*path, word), message, nearest(word, allowed))
        else:
            _check_value(word, value, allowed[word], (*path, word), file)
    for word, key in allowed.items():
        if key.required and word not in given:
            file.fail(path, f"{what} needs the key `{word}`: {FORMS[key.form]}")


def _maps(rule: Rule, key: str) -> list[dict[str, Any]]:
    value = rule.keys.get(key)
    return value if isinstance(value, list) and all(isinstance(part, dict) for part in value) else []


def _check_cases(cases: list[dict[str, Any]], file: RuleFile) -> None:
    for number, case in enumerate(cases):
        check_keys(case, CASE_KEYS, ("cases", number), file, "a case")
        if "when" not in case and number < len(cases) - 1:
            file.fail(("cases", number), "a case without `when` always holds, so the cases after it are never reached")


def _check_value(word: str, value: Any, key: Key, path: FieldPath, file: RuleFile) -> None:
    if not _FITS[key.form](value):
        file.fail(path, f"`{word}` is {FORMS[key.form]}; found {_found(value)}")
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
            file.fail((*path, name), f"{name!r} is {FORMS['expression']}; found {_found(expression)}")


def _found(value: Any) -> str:
    return "nothing in it" if value in ("", [], {}) else describe(value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and value != ""


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(fits(part) for part in value)


def _one_or_more(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: fits(value) or _list_of(fits)(value)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


_FITS: dict[Form, Callable[[Any], bool]] = {
    "word": _is_word,
    "words": _one_or_more(_is_word),
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
