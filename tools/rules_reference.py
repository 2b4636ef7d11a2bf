"""Writes the reference of the rules language as Markdown, from the tables and docstrings that the engine itself works by."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from grove_compiler.engine.expressions import model_types
from grove_compiler.engine.expressions.model_types import Words, signature_in_rules
from grove_compiler.engine.language.keys import (
    CASE_KEYS,
    COMMON_KEYS,
    CONSTANTS_KEYS,
    DECISION_CASE_KEYS,
    DISABLE_KEYS,
    FILE_KEYS,
    FORMS,
    ITEM_KEYS,
    LIFE_KEYS,
    MAP_KEYS,
    OBSERVED_TRANSITION_KEYS,
    OPERATION_KEYS,
    OPERATIONS,
    POLICY_KEYS,
    STATE_KEYS,
    TRANSITION_KEYS,
    VERB_KEYS,
    RuleKey,
)
from grove_compiler.engine.runtime import builtins
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.sources import SubjectNames, Vocabulary
from tools.rules_reference_classes import document_classes, reachable_classes, type_words

BEGIN = "<!-- reference: written by tools/generate_reference.py -->"
END = "<!-- end of reference -->"

VERBS = {
    "default": "Sets a field of an input manifest that is absent.",
    "validate": "Reports invalid input.",
    "decide": "Makes a decision for the model, or for other rules, which call it by name.",
    "generate": "Renders a template once for each item.",
    "patch": "Changes generated objects.",
    "condition": "Computes a status condition of an object.",
    "status": "Renders the rest of an object's status.",
    "event": "Records a Kubernetes event, once for each occurrence.",
    "requeue": "Requeues the input at a time.",
    "delete": "Deletes an object that should exist, so that it is recreated.",
    "wait": "Explains what an object waits for, since when, and what would end the wait.",
}

TESTS = {
    "none": "it is none",
    "defined": "it is not none",
    "true": "it is the boolean true",
    "false": "it is the boolean false",
    "string": "it is text",
    "boolean": "it is a boolean",
    "integer": "it is a whole number",
    "number": "it is a number",
    "mapping": "it is a map",
    "sequence": "it is a list",
    "match": "it is text, and the regular expression matches all of it: `name is match('[a-z]+')`",
    "in": "it is one of the items, keys or characters: `select('in', names)`",
    "eq": "it equals the other",
    "equalto": "the same as `eq`",
    "ne": "it differs from the other",
    "lt": "it is less than the other",
    "gt": "it is greater than the other",
    "le": "it is at most the other",
    "ge": "it is at least the other",
    "startswith": "it is text with that prefix",
    "endswith": "it is text with that suffix",
}


def reference(vocabulary: Vocabulary, rules: Sequence[RuleInfo] = ()) -> str:
    """Returns every key, filter, test and function, and the names and classes of a vocabulary, as the second half of a Markdown page.

    `rules` are those that ship, which make the decisions.
    """
    parts = [_keys(), _templates(), _expressions(), _names(vocabulary), _functions(vocabulary), _decisions(vocabulary, rules)]
    return "\n".join([*filter(None, parts), _classes(vocabulary)]).rstrip() + "\n"


def replace_reference(page: str, vocabulary: Vocabulary, rules: Sequence[RuleInfo] = ()) -> str:
    """Returns the page with the text between its two marks replaced by the reference. Raises `ValueError` when a mark is missing."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{reference(vocabulary, rules)}\n{END}{after}"


def _keys() -> str:
    text = "## Keys of rules\n\n"
    text += _section("Every rule", "A rule file has one rule in each YAML document.", _key_table(COMMON_KEYS))
    for verb, keys in VERB_KEYS.items():
        text += _section(f"`{verb}`", VERBS[verb], _key_table(keys))
    text += _section("Operations of `do`", "The keys of each entry of `do`.", _key_table(OPERATION_KEYS))
    text += _table(("`op`", "what it does"), [(f"`{word}`", doc) for word, doc in OPERATIONS.items()]) + "\n"
    text += _section("Cases of a condition", "The keys of each entry of `cases`.", _key_table(CASE_KEYS))
    text += _section("Cases of a decision", "The keys of each entry of `cases`.", _key_table(DECISION_CASE_KEYS))
    text += _section("`policy`", "What an applier may do with an existing object.", _key_table(POLICY_KEYS))
    text += _section("`life`", "A separate document, instead of a rule: see [Lives](#lives-what-changes-over-time).", _key_table(LIFE_KEYS))
    text += _section("States of a life", "The keys of each entry of `states`, which may be a line of text instead.", _key_table(STATE_KEYS))
    text += _section("Transitions of a life", "The keys of each entry of `transitions`.", _key_table(TRANSITION_KEYS))
    text += _section("Observed transitions", "Those that the cluster makes.", _key_table(OBSERVED_TRANSITION_KEYS))
    text += _section("`rules`", "A separate document at the head of a file, for conditions that its rules share.", _key_table(FILE_KEYS))
    text += _section("`constants`", "A separate document, instead of a rule.", _key_table(CONSTANTS_KEYS))
    return text + _section("`disable`", "A separate document, instead of a rule.", _key_table(DISABLE_KEYS))


def _key_table(keys: Mapping[str, RuleKey]) -> str:
    rows = [(f"`{word}`{' (required)' if key.required else ''}", FORMS[key.form], _with_choices(key)) for word, key in keys.items()]
    return _table(("key", "takes", "meaning"), rows)


def _with_choices(key: RuleKey) -> str:
    return key.doc + (": " + ", ".join(f"`{word}`" for word in key.choices) if key.choices else "")


def _templates() -> str:
    text = "## Template keys\n\n"
    text += _section("In a map", "", _table(("key", "meaning"), [(f"`{word}`", doc) for word, doc in MAP_KEYS.items()]))
    return text + _section("In an item of a list", "", _table(("key", "meaning"), [(f"`{word}`", doc) for word, doc in ITEM_KEYS.items()]))


def _expressions() -> str:
    filters: dict[int, list[str]] = {}
    for name, function in builtins.FILTERS.items():
        filters.setdefault(id(function), []).append(name)
    rows = [(", ".join(f"`{n}`" for n in names), _doc(builtins.FILTERS[names[0]])) for names in filters.values()]
    text = "## Filters\n\n`value | filter`, or `value | filter(argument)`.\n\n" + _table(("filter", "gives"), rows) + "\n"
    text += "## Tests\n\n`value is test`, `value is not test`, or `select('test')`.\n\n"
    return text + _table(("test", "holds when"), [(f"`{word}`", doc) for word, doc in TESTS.items()])


def _names(vocabulary: Vocabulary) -> str:
    classes = _class_names(vocabulary)
    text = "## Names\n\nWhat every rule sees, besides the names that it binds itself.\n\n"
    text += _table(("name", "type"), [(f"`{word}`", type_words(kind, classes)) for word, kind in vocabulary.roots.items()])
    text += "\n`now`, in seconds since the epoch, is available in `condition`, `status`, `event`, `requeue`, `delete` and `wait` only.\n"
    of_kinds = [row for kind, subject in vocabulary.subjects.items() for row in _subject_rows(kind, subject, classes)]
    if of_kinds:
        text += "\nWhat rules about one kind of input see besides.\n\n" + _table(("about", "name", "type", "in"), of_kinds)
    return text


def _subject_rows(kind: str, subject: SubjectNames, classes: Iterable[str]) -> list[tuple[str, str, str, str]]:
    rows = [(f"`{kind}`", f"`{word}`", type_words(of, classes), "every rule") for word, of in subject.roots.items()]
    rows += [(f"`{kind}`", f"`{word}`", type_words(of, classes), "validations on update") for word, of in subject.update_roots.items()]
    return rows or [(f"`{kind}`", "", "", "")]


def _functions(vocabulary: Vocabulary) -> str:
    functions = {**builtins.FUNCTIONS, **vocabulary.functions}
    rows = [(_signature(name, function, vocabulary.words), _doc(function)) for name, function in functions.items()]
    return "## Functions\n\n`function(x, y)`, or for those of the model also `x | function(y)`.\n\n" + _table(("function", "gives"), rows)


def _decisions(vocabulary: Vocabulary, rules: Sequence[RuleInfo]) -> str:
    """Returns the table of decisions, each with the shipped rule that makes it."""
    deciding = {rule.details["decision"]: f"`{rule.id}`" for rule in rules if rule.verb == "decide"}
    classes = _class_names(vocabulary)
    rows = []
    for name, function in vocabulary.decisions.items():
        parameters = model_types.parameters(function, vocabulary.words).items()
        signature = f"`{name}`({', '.join(f'`{word}`: {type_words(kind, classes)}' for word, kind in parameters)})"
        rows.append((signature, type_words(model_types.result(function), classes), _doc(function), deciding.get(name, "")))
    text = "## Decisions\n\n`decision(x, y)`, in any expression; it depends on its parameters only. A rule of the same id replaces it.\n\n"
    return text + _table(("decision", "gives", "what is decided", "rule"), rows) if rows else ""


def _classes(vocabulary: Vocabulary) -> str:
    return document_classes(reachable_classes(_starting_types(vocabulary)), vocabulary.words)


def _class_names(vocabulary: Vocabulary) -> list[str]:
    return [owner.__name__ for owner in reachable_classes(_starting_types(vocabulary))]


def _starting_types(vocabulary: Vocabulary) -> list[Any]:
    subjects = [kind for subject in vocabulary.subjects.values() for kind in (*subject.roots.values(), *subject.update_roots.values())]
    parameters = [
        kind for function in vocabulary.decisions.values() for kind in model_types.parameters(function, vocabulary.words).values()
    ]
    return [*vocabulary.roots.values(), *subjects, *parameters]


def _signature(name: str, function: Callable[..., Any], words: Words) -> str:
    return f"`{name}({', '.join(signature_in_rules(function, words).parameters)})`"


def _doc(function: Callable[..., Any]) -> str:
    """Returns the first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _section(title: str, text: str, table: str) -> str:
    return f"### {title}\n\n" + (f"{text}\n\n" if text else "") + table + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
