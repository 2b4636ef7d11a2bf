"""Rules of people who make mistakes or mean harm: reported with file and line, never a traceback, never a hang."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.language.keys import (
    CASE_KEYS,
    COMMON_KEYS,
    DISABLE_KEYS,
    FILE_KEYS,
    ITEM_KEYS,
    MAP_KEYS,
    OPERATION_KEYS,
    POLICY_KEYS,
    VERB_KEYS,
    Form,
    RuleKey,
    Verb,
)
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import TooManyObjects
from grove_compiler.engine.sources import InvalidRules, RuleSource
from tests.suite.effort import runs
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, mistakes, shop, sources

WORDS = st.sampled_from(
    [
        *[
            "box.yaml",
            "card.yaml",
            "Box",
            "box/shelf",
            "box/*",
            "create",
            "update",
            "shelves",
            "shelf",
            "shelf.books",
            "book",
            "shop.name",
            "true",
            "omit",
            "none",
            "1",
            "a",
            "only",
            "old",
        ],
        *["{{", "spec.{a,b}[*].c", "/spec/a/-", "/a~1b", "add", "merge", "lambda", "class", "ﬁ", "é", "$for"],
        *("{{ shelf.name }}", "a{{ book }}", "x in shelves", "x in [1]", "x | length", "'a' ~ x", "", " ", "\0", "\u2028"),
    ]
)
KEYS = st.sampled_from(
    [
        *VERB_KEYS,
        *(key for keys in VERB_KEYS.values() for key in keys),
        *(*COMMON_KEYS, *OPERATION_KEYS, *CASE_KEYS, *POLICY_KEYS, *DISABLE_KEYS, *FILE_KEYS, *MAP_KEYS, *ITEM_KEYS),
        *("apiVersion", "kind", "metadata", "name", "spec", "x", "shelf", "book", "1", "", "$x", "{{ shelf.name }}", "é"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | WORDS | st.text(max_size=8)
RIGHT = {
    "word": st.sampled_from(["card.yaml", "box.yaml", "Ready", "Invalid value", "add"]),
    "words": st.sampled_from(["Box", "Card", "box/shelf", "create", "update", "spec.a[*].b", "spec.{a,b}"]),
    "expression": st.sampled_from(
        ["shelves", "shop.name", "1", "shelves | length", "shop.nothing", "shelf.name", "object.spec", "old", "omit"]
    ),
    "text": st.sampled_from(["True", "a", "{{ shop.name }}", "/spec/a/-", "/spec", "/a/0/{{ shop.name }}", "{{ shop.nothing }}"]),
}
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)


def right_value(form: Form) -> st.SearchStrategy[Any]:
    """A value of the right kind, though it may mean nothing."""
    names = st.dictionaries(st.sampled_from(["x", "shelf", "w"]), RIGHT["expression"], max_size=2)
    maps = st.lists(st.one_of(as_map(OPERATION_KEYS), as_map(CASE_KEYS)), min_size=1, max_size=2)
    others = {
        "names": names,
        "maps": maps,
        "map": as_map(POLICY_KEYS),
        "boolean": st.booleans(),
        "value": VALUES,
        "list": st.lists(SCALARS),
        "pointers": st.sampled_from(["/spec/a", "/"]) | st.lists(st.just("/spec/a"), min_size=1, max_size=2),
    }
    also = {"line": st.just("A."), "expressions": RIGHT["expression"] | st.lists(RIGHT["expression"], min_size=1, max_size=2)}
    return {**RIGHT, **others, **also}[form]


def as_map(keys: dict[str, RuleKey]) -> st.SearchStrategy[dict[str, Any]]:
    return st.deferred(
        lambda: st.fixed_dictionaries(
            {word: st.sampled_from(key.choices) if key.choices else right_value(key.form) for word, key in keys.items() if key.required},
            optional={word: right_value(key.form) for word, key in keys.items() if not key.required},
        )
    )


def likely_rule(verb: Verb) -> st.SearchStrategy[dict[str, Any]]:
    """A rule of the right form."""
    known = {**COMMON_KEYS, **VERB_KEYS[verb], verb: VERB_KEYS[verb][verb]._replace(required=True)}
    return as_map(known).map(lambda rule: {**rule, "rule": "a/b", "doc": "A."})


def rule_of(verb: Verb) -> st.SearchStrategy[dict[str, Any]]:
    """A rule that has its verb and mostly keys that it may have."""
    known = {
        "rule": st.sampled_from(["a", "b/c", "box/shelf"]),
        "doc": st.just("A."),
        **{key: VALUES for key in VERB_KEYS[verb] if key != verb},
    }
    return st.fixed_dictionaries({verb: VALUES}, optional={**known, "when": VALUES, "let": VALUES, "zzz": VALUES})


RULE_DOCUMENTS = st.one_of(VALUES, *(rule_of(verb) for verb in VERB_KEYS), *(likely_rule(verb) for verb in VERB_KEYS))


def outcome(files: list[RuleSource]) -> set[int]:
    """Builds the rules and, when they are right, runs them: all that may be raised is what the functions say they raise.

    Returns the lines that are reported.
    """
    try:
        made = build(files, VOCABULARY)
    except InvalidRules as invalid:
        assert invalid.diagnostics
        assert all(finding.file and finding.line > 0 and finding.message for finding in invalid.diagnostics)
        return {finding.line for finding in invalid.diagnostics}
    scope = shop()
    for run in (
        lambda: made.generate(scope, 50),
        lambda: made.validate(scope, "create"),
        lambda: made.conditions(scope),
        lambda: made.default("Box", {"spec": {"a": [{}]}}, scope),
    ):
        with contextlib.suppress(RuleFailure, TooManyObjects):
            run()
    return set()


def as_file(documents: list[Any]) -> str:
    return "\n---\n".join(json.dumps(document) for document in documents)


@given(st.lists(RULE_DOCUMENTS, max_size=3), VALUES)
@settings(max_examples=runs(400))
def test_any_documents_are_rules_or_reported(documents: list[Any], template: Any) -> None:
    outcome([*sources("", {"box": BOX, "card": CARD}), RuleSource("rules/a.yaml", as_file(documents), "mine")])
    outcome([*sources(CARD_RULE), RuleSource("templates/card.yaml", as_file([template]), "mine")])


@given(st.one_of(*(likely_rule(verb) for verb in VERB_KEYS)))
@settings(max_examples=runs(600))
def test_any_rule_of_the_right_form_runs_or_is_reported(rule: dict[str, Any]) -> None:
    outcome([*sources([BOX_RULE, CARD_RULE], {"box": BOX, "card": CARD}), RuleSource("rules/a.yaml", as_file([rule]), "mine")])


@given(st.text(max_size=60))
@settings(max_examples=runs(300))
def test_any_text_is_a_file_of_rules_or_reported(text: str) -> None:
    outcome([RuleSource("rules/a.yaml", text, "mine")])


@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=runs(300))
def test_any_map_is_part_of_a_template_or_reported(part: dict[str, Any]) -> None:
    outcome([*sources(CARD_RULE), RuleSource("templates/card.yaml", f"{CARD}spec: {json.dumps(part)}\n", "mine")])


TOKENS = st.sampled_from(
    [
        *[
            "book",
            "shelf",
            "shop",
            "shelves",
            "item",
            "omit",
            "none",
            "true",
            "1",
            "0",
            "2.5",
            "1e9",
            "'a'",
            '"b"',
            "length",
            "map",
            "sort",
            "mapping",
            "defined",
            "class",
            "lambda",
        ],
        *[
            ".",
            ".title",
            ".pages",
            ".__class__",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            "|",
            "~",
            "+",
            "-",
            "*",
            "/",
            "//",
            "%",
            "**",
            "==",
            "!=",
            "<",
            ">=",
            "=",
            ":=",
            "{{",
            "}}",
            "{%",
            "\\",
            "'",
            "#",
            "@",
            "$",
            "`",
            "!",
            "?",
            ";",
        ],
        *["select('in',", "attribute=", "range(", "shout(", "longer_than(", "default(", "match("],
        *(f" {word} " for word in ("and", "or", "not", "in", "is", "if", "else")),
        *"\n\0éﬁ",
    ]
)
EXPRESSIONS = st.lists(TOKENS, max_size=12).map("".join) | st.text(max_size=20)


@given(EXPRESSIONS)
@settings(max_examples=runs(1000))
def test_any_text_is_an_expression_or_reported(text: str) -> None:
    """In three places at once, and where only some of them are reported, alone in the others: nothing runs beside a mistake."""
    parts = [{"a": f"{{{{ {text} }}}}"}, {"b": [{"$if": text, "c": 1}]}, {"d": {"$merge": text}}]
    bodies = [json.dumps(part)[1:-1] for part in parts]
    above = f"{CARD}spec:\n".count("\n")

    def said_of(lines: list[str]) -> set[int]:
        template = f"{CARD}spec:\n" + "".join(f"  {line}\n" for line in lines)
        return outcome([*sources(CARD_RULE), RuleSource("templates/card.yaml", template, "mine")])

    if reported := said_of(bodies):
        for number, body in enumerate(bodies, above + 1):
            if number not in reported:
                said_of([body])


@given(EXPRESSIONS, st.sampled_from(["when", "owner", "forEach", "let"]))
@settings(max_examples=runs(500))
def test_any_text_under_a_key_of_a_rule_is_an_expression_or_reported(text: str, key: str) -> None:
    value = {"x": text} if key in ("forEach", "let") else text
    rule = {"rule": "a", "doc": "A.", "generate": "box.yaml", "forEach": {"shelf": "shelves"}, key: value}
    outcome([*sources("", {"box": BOX.replace("shelf.name", "shop.name")}), RuleSource("rules/a.yaml", json.dumps(rule), "mine")])


HOSTILE_VALUES = {
    "a very long list": "[" + ", ".join("1" for _ in range(20_000)) + "]",
    "a very long sum": " + ".join("1" for _ in range(20_000)),
    "a very long chain": " and ".join("book" for _ in range(20_000)),
    "a very long path": "shop" + ".a" * 20_000,
    "a very long name": "a" * 100_000,
    "a very long text": "'" + "a" * 1_000_000 + "'",
    "very many filters": "book.title" + " | upper" * 5_000,
    "very many brackets": "(" * 50_000,
    "very many calls": "shout(" * 1_000 + "'a'" + ")" * 1_000,
    "very many indices": "book.words" + "[0]" * 5_000,
    "a very long number": "1" * 100_000,
    "a very long comparison": "1" + " < 2" * 20_000,
    "a very long if": "1 if true else " * 5_000 + "1",
}


@rows("expression", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES.keys())
@rows("key", ["when", "let"])
def test_a_huge_expression_is_compiled_or_reported(key: str, expression: str) -> None:
    rule = {"rule": "a", "doc": "A.", "generate": "card.yaml", "forEach": {"shelf": "shelves", "book": "shelf.books"}}
    rule[key] = {"x": expression} if key == "let" else expression
    outcome([*sources("", {"card": CARD}), RuleSource("rules/a.yaml", json.dumps(rule), "mine")])


COSTLY = [
    "'x' * 10 ** 9",
    "[1] * 10 ** 9",
    "range(10 ** 12)",
    "9 ** 9 ** 9 ** 9",
    "10 ** 64 * 10 ** 64",
    "range(10 ** 5) | map('string') | join",
]


@rows("expression", COSTLY)
def test_loading_evaluates_nothing(expression: str) -> None:
    assert mistakes(CARD_RULE, card=f'{CARD}spec: {{a: "{{{{ {expression} }}}}"}}') == []


MANY = {
    "rules": "\n---\n".join(CARD_RULE.replace("card/book", f"card/b{number}") for number in range(200)),
    "wrong rules": "\n---\n".join(f"rule: a{number}\ndoc: A.\nzzz: 1" for number in range(500)),
    "the same id": "\n---\n".join(CARD_RULE for _ in range(200)),
    "rules in a chain": "\n---\n".join(
        CARD_RULE.replace("card/book", f"b{number}") + (f"after: [b{number + 1}]\n" if number < 299 else "") for number in range(300)
    ),
    "rules after all others": "\n---\n".join(CARD_RULE.replace("card/book", f"b/b{number}") + "after: [b/*]\n" for number in range(60)),
    "keys": "rule: a\ndoc: A.\ngenerate: card.yaml\n" + "".join(f"k{number}: 1\n" for number in range(2000)),
    "names": CARD_RULE + "let:\n" + "".join(f"  x{number}: x{number + 1}\n" for number in range(200)) + "  x200: 1\n",
    "operations": CARD_RULE + "---\nrule: p\ndoc: A.\npatch: Card\ndo:\n" + "- {op: add, path: /a/-, value: 1}\n" * 1000,
}


@rows("rules", MANY.values(), ids=MANY.keys())
def test_very_many_of_something_end_in_a_program_or_a_report(rules: str) -> None:
    outcome([*sources("", {"card": CARD}), RuleSource("rules/a.yaml", rules, "mine")])


def test_a_report_of_many_mistakes_holds_each_once() -> None:
    found = mistakes([f"rule: a{number}\ndoc: A.\nzzz: 1" for number in range(300)])
    assert len({finding.line for finding in found}) == len(found) == 300


@rows(
    "text",
    [
        "\ufeffrule: a",
        "rule: a\r\ndoc: A.\r\nzzz: 1",
        "rule: ä\ndoc: ü",
        "\t",
        "%YAML 3.0\n---\na: 1",
        "&a [*a]",
        "!!python/object:os.system x",
    ],
)
def test_unusual_yaml_is_read_or_reported(text: str) -> None:
    outcome([RuleSource("rules/a.yaml", text, "mine")])


def test_aliases_that_multiply_are_reported() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, 12)]
    outcome([RuleSource("rules/a.yaml", "\n".join(lines), "mine")])
