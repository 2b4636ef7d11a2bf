"""Implements `grove rules new`: writes valid rules, templates and cases with a comment for every key."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from textwrap import indent

from grove_compiler.engine.language.keys import FORMS, VERB_KEYS, RuleKey
from grove_compiler.engine.language.rule_schema import article, keys_of

_LANGUAGE_SERVER = """\
# yaml-language-server: $schema={}.schema.json
# (written by `grove rules schema {} > {}.schema.json`; editors then complete and check)
"""

VERBS = ("default", "validate", "generate", "patch", "condition", "event", "requeue", "delete", "wait", "status")
WORDS = (*VERBS, "life", "template", "case")


class SkeletonRefused(Exception):
    """Nothing was written. The message has the reason."""


def new(what: str, target: str) -> list[str]:
    """Writes `FOLDER/NAME` as a rule with this verb, as a life, as a template with its rule, or as a case, and returns the files.

    Raises `SkeletonRefused` for other words, for names that no rule can have, and for files that are there: nothing is replaced.
    """
    if what == "decide":
        raise SkeletonRefused("a decision is made by exactly one rule: replace a built-in one, whose text `grove rules ID` shows")
    if what not in WORDS:
        raise SkeletonRefused(f"unknown skeleton {what!r}; the skeletons are {', '.join(WORDS)}")
    folder, name = os.path.split(os.path.normpath(target))
    if not folder or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise SkeletonRefused(f"a skeleton is FOLDER/NAME, with a name of a-z, 0-9 and `-`, as in my-rules/team-label; found {target!r}")
    written = _files("generate" if what == "template" else what, folder, name)
    there = [path for path in written if os.path.lexists(path)]
    if there:
        raise SkeletonRefused(f"{', '.join(there)}: already exists, and nothing is overwritten")
    for path, text in written.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
    return list(written)


def _files(what: str, folder: str, name: str) -> dict[str, str]:
    if what == "case":
        case = os.path.join(folder, name)
        return {os.path.join(case, "input.yaml"): _text("input"), os.path.join(case, "asserts.yaml"): _header("asserts") + _text("asserts")}
    rule = _header("rule") + _text("life", name) if what == "life" else _rule(what, name)
    found = {os.path.join(folder, "rules", f"{name}.yaml"): rule}
    if what == "generate":
        found[os.path.join(folder, "templates", f"{name}.yaml")] = _header("template") + _text("template", name)
    if what == "status":
        found[os.path.join(folder, "templates", "status", f"{name}.yaml")] = _header("part") + _text("status")
    return found


def _text(skeleton: str, name: str = "") -> str:
    """Returns the text of a file in `grove_cli/skeletons`, with the name in place of `{name}`."""
    return (files("grove_cli") / "skeletons" / f"{skeleton}.yaml").read_text("utf-8").replace("{name}", name)


def _header(schema: str) -> str:
    return _LANGUAGE_SERVER.format(schema, schema, schema)


def _rule(verb: str, name: str) -> str:
    """Returns a rule with an example for some keys, and a comment for each other key of its verb."""
    import yaml

    keys = keys_of(verb)  # type: ignore[arg-type]  # one of the words above
    given: dict[str, str] = yaml.safe_load(_text("rules", name))[verb]
    lines = [f"rule: my/{name}", f"doc: Says in one line why {article(verb)} {verb} rule is needed here, and what requires it."]
    for word in (*VERB_KEYS[verb], *(word for word in keys if word not in VERB_KEYS[verb])):  # type: ignore[index]
        if word in ("rule", "doc"):
            continue
        lines += ["", f"# {_explained(keys[word])}"]
        value = given.get(word)
        text = "" if value is None else f"\n{indent(value, '  ')}" if "\n" in value else f" {value}"
        lines.append(f"{word}:{text}" if text else f"# {word}:")
    return _header("rule") + "\n".join(lines) + "\n"


def _explained(key: RuleKey) -> str:
    words = f": {', '.join(key.choices)}" if key.choices else ""
    return f"{FORMS[key.form]}{' (required)' if key.required else ''}: {key.doc}{words}"
