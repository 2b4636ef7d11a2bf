"""What several templates share: parts that they include, and constants. Both are put in when rules are loaded."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build, compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, RuleSource
from grove_compiler.engine.tracing.provenance import Tracer, traced_rules
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, LENDING, VOCABULARY, mistakes, program, shop, sources


def spec(body: str, rule: str = "", **parts: str) -> Any:
    """The `spec` of the first card, of a template with this body; parts by name."""
    return made(body, rule, **parts).generate(shop(), 9)[0].object["spec"]


def made(body: str, rule: str = "", **parts: str) -> Program:
    return program(CARD_RULE + rule, card=CARD + body, **{f"parts/{name}": text for name, text in parts.items()})


LABELS = 'shop: "{{ shop.name }}"\nbook: "{{ book.title }}"\nkind: book\n'


# -- parts -------------------------------------------------------------------------------------------------------------------------

INCLUDED = {
    "as a map": ("spec: {$include: parts/labels.yaml}", {"shop": "Corner", "book": "Emma", "kind": "book"}),
    "among other entries": (
        "spec: {a: 1, $include: parts/labels.yaml, z: 2}",
        {"a": 1, "shop": "Corner", "book": "Emma", "kind": "book", "z": 2},
    ),
    "several": ("spec: {$include: [parts/labels.yaml, parts/more.yaml]}", {"shop": "Corner", "book": "Emma", "kind": "more"}),
    "with names that it gives": ("spec: {$let: {word: book.title}, $include: parts/word.yaml}", {"word": "Emma"}),
    "under a condition": ("spec: {$let: {word: '1'}, a: {$if: book.pages < 5, $include: parts/word.yaml}}", {}),
    "in a part": ("spec: {$include: parts/both.yaml}", {"shop": "Corner", "book": "Emma", "kind": "both"}),
    "an item": ("spec: [{$include: parts/more.yaml}]", [{"kind": "more"}]),
    "the items of a list": ("spec: [first, {$include: parts/list.yaml}, last]", ["first", "Emma", {"size": 1}, "last"]),
    "a list as a value": ("spec: {$include: parts/list.yaml}", ["Emma", {"size": 1}]),
    "items under a condition": ("spec: [{$if: book.pages > 5, $include: parts/list.yaml}, 1]", ["Emma", {"size": 1}, 1]),
    "no items under a condition": ("spec: [{$if: book.pages < 5, $include: parts/list.yaml}, 1]", [1]),
    "items for each": ("spec:\n- {$for: word in book.words, $include: parts/words.yaml}", ["wit", 3, "love", 4, "wit", 3]),
}
PARTS = {
    "labels": LABELS,
    "more": "kind: more\n",
    "word": "word: '{{ word }}'\n",
    "both": "$include: parts/labels.yaml\nkind: both\n",
    "list": "- '{{ book.title }}'\n- {size: 1}\n",
    "words": "- '{{ word }}'\n- '{{ word | length }}'\n",
}


@rows(("body", "expected"), INCLUDED.values(), ids=INCLUDED.keys())
def test_a_part_stands_where_it_is_included(body: str, expected: Any) -> None:
    assert spec(body, **PARTS) == expected


def test_a_patch_includes_parts_as_well() -> None:
    patch = "\n---\nrule: p\ndoc: P.\npatch: Card\ndo: [{op: add, path: /metadata/labels, value: {$include: parts/labels.yaml}}]"
    assert made("", patch, labels=LABELS).generate(shop(), 9)[0].object["metadata"]["labels"]["book"] == "Emma"


def test_metadata_may_come_from_a_part_and_still_gets_its_owner() -> None:
    card = CARD.replace('metadata: {name: "{{ shelf.name }}-{{ book.slug }}"}', "metadata: {$include: parts/name.yaml}")
    rule = CARD_RULE + "owner: shelf.ref\n"
    node = program(rule, card=card, **{"parts/name": "name: '{{ book.slug }}'"}).generate(shop(), 9)[0]
    assert (node.object["metadata"]["name"], node.object["metadata"]["ownerReferences"][0]["name"]) == ("emma", "north")


def test_a_part_of_the_user_takes_the_place_of_one_that_ships() -> None:
    shipped = sources(CARD_RULE, {"card": CARD + "spec: {$include: parts/more.yaml}", "parts/more": "kind: more"})
    mine = sources("", {"parts/more": "kind: mine"}, origin="mine")
    assert build([*shipped, *mine], VOCABULARY).generate(shop(), 9)[0].object["spec"] == {"kind": "mine"}


def code_of(body: str, *rules: str, **templates: str) -> str:
    """The constants that the generated functions name, and what each of them holds."""
    files = sources([*rules, CARD_RULE], {"card": CARD + body, **templates})
    compiled = compile_rules(load(files), VOCABULARY)
    return repr((compiled.constants, [code.co_consts for code in compiled.codes if code]))


def test_a_part_costs_nothing_when_rules_run() -> None:
    written = 'spec: {shop: "{{ shop.name }}", book: "{{ book.title }}", kind: book}'
    assert code_of("spec: {$include: parts/labels.yaml}", **{"parts/labels": LABELS}) == code_of(written)


def test_a_constant_costs_nothing_when_rules_run() -> None:
    assert code_of("spec: {a: 'the {{ WORD }}', b: [1]}", "constants: {WORD: house}") == code_of("spec: {a: the house, b: [1]}")


BAD_PARTS: dict[str, tuple[dict[str, str], str, int, str]] = {
    "unknown": ({}, "templates/card.yaml", 5, "the part 'parts/labels.yaml' does not exist"),
    "an unknown name": (
        {"parts/labels": "a: '{{ bok.title }}'"},
        "templates/parts/labels.yaml",
        1,
        "unknown name 'bok'; in scope are book, shelf, shelves, shop (included by templates/card.yaml:5)",
    ),
    "a list for a map": (
        {"parts/labels": "- 1"},
        "templates/card.yaml",
        5,
        "the part 'parts/labels.yaml' is a list, which has no place among the entries of a map",
    ),
    "itself": (
        {"parts/labels": "$include: [parts/labels.yaml]"},
        "templates/parts/labels.yaml",
        1,
        "parts that include each other: parts/labels.yaml includes parts/labels.yaml (included by templates/card.yaml:5)",
    ),
    "a condition of its own": ({"parts/labels": "$if: book\na: 1"}, "templates/parts/labels.yaml", 1, "a part has no `$if` at its top"),
    "names of its own": ({"parts/labels": "$let: {a: '1'}\na: 1"}, "templates/parts/labels.yaml", 1, "a part has no `$let` at its top"),
    "nothing in it": ({"parts/labels": ""}, "templates/parts/labels.yaml", 1, "a template file holds one document; this one is empty"),
}


@rows(("parts", "file", "line", "message"), BAD_PARTS.values(), ids=BAD_PARTS.keys())
def test_a_part_that_is_wrong_is_reported(parts: dict[str, str], file: str, line: int, message: str) -> None:
    found = mistakes(CARD_RULE, card=CARD + "spec: {$include: [parts/labels.yaml]}", **parts)
    assert [(one.file, one.line, one.message[: len(message)]) for one in found] == [(file, line, message)]


def test_parts_that_include_each_other_are_reported() -> None:
    parts = {"parts/a": "$include: [parts/b.yaml]", "parts/b": "x: {$include: parts/a.yaml}"}
    (found,) = mistakes(CARD_RULE, card=CARD + "spec: {$include: parts/a.yaml}", **parts)
    assert found.message.startswith("parts that include each other: parts/a.yaml includes parts/b.yaml includes parts/a.yaml")


def test_only_parts_can_be_included() -> None:
    found = mistakes([CARD_RULE, BOX_RULE], card=CARD + "spec: {$include: box.yaml}", box=BOX)
    assert [one.message for one in found] == ["the part 'box.yaml' is not below templates/parts/, so it cannot be included"]


def test_a_mistake_in_a_part_is_told_for_each_place_that_includes_it() -> None:
    files = {
        "card": CARD + "spec: {$include: parts/a.yaml}",
        "box": BOX + "spec: {$include: parts/a.yaml}",
        "parts/a": "a: '{{ book.title }}'",
    }
    (found,) = mistakes([CARD_RULE, BOX_RULE], **files)
    assert (found.file, "(included by templates/box.yaml:5)" in found.message) == ("templates/parts/a.yaml", True)


def test_what_fails_in_a_part_names_its_line_there() -> None:
    with pytest.raises(RuleFailure, match=r"^templates/parts/labels.yaml:2: "):
        spec("spec: {$include: parts/labels.yaml}", labels="a: 1\nb: '{{ book.title + book.anything }}'\n")


def test_what_a_part_says_is_traced_to_the_part() -> None:
    files = sources(CARD_RULE, {"card": CARD + "spec: {$include: parts/labels.yaml}", "parts/labels": LABELS})
    node = build(files, VOCABULARY).generate(shop(), 9)[0]
    fields = Tracer(traced_rules(files, VOCABULARY), VOCABULARY).trace(node, shop()).fields
    assert [tuple(fields["spec", key].origin) for key in ("book", "kind")] == [
        ("templates/parts/labels.yaml", 2, "{{ book.title }}"),
        ("templates/parts/labels.yaml", 3, ""),
    ]


def test_what_a_part_of_the_user_does_is_bounded() -> None:
    shipped = sources(CARD_RULE, {"card": CARD + "spec: {$include: parts/a.yaml}"})
    mine = sources("", {"parts/a": "a: '{{ (range(90000) | list) * 1 | length }}'"}, origin="mine")
    (code,) = compile_rules(load([*shipped, *mine]), VOCABULARY).codes
    assert code is not None and "charge" in code.co_names


# -- constants ---------------------------------------------------------------------------------------------------------------------

CONSTANTS = """
constants:
  KAI: kai-scheduler
  LEAST: 200
  IS_OPEN: false
  WORDS: [wit, love]
  LABELS: {a: one, b: two}
doc: What our objects have in common.
"""


def with_constants(body: str) -> Any:
    return program([CONSTANTS, CARD_RULE], card=CARD + body).generate(shop(), 9)[0].object["spec"]


USES = {
    "alone": ("'{{ KAI }}'", "kai-scheduler"),
    "a number": ("'{{ LEAST }}'", 200),
    "a truth": ("'{{ IS_OPEN }}'", False),
    "a list": ("'{{ WORDS }}'", ["wit", "love"]),
    "a map": ("'{{ LABELS }}'", {"a": "one", "b": "two"}),
    "in text": ("'by {{ KAI }} ({{ LEAST }}, {{ IS_OPEN }})'", "by kai-scheduler (200, false)"),
    "in an expression": ("'{{ book.pages > LEAST and KAI | upper }}'", "KAI-SCHEDULER"),
    "an entry": ("'{{ LABELS.a }}{{ WORDS[1] }}'", "onelove"),
    "as a key": ("{'{{ KAI }}/queue': 1}", {"kai-scheduler/queue": 1}),
    "in a loop": ("[{$for: word in WORDS, $value: '{{ word }}'}]", ["wit", "love"]),
    "merged": ("{$merge: LABELS, a: 1}", {"a": 1, "b": "two"}),
    "in a condition": ("[{$if: book.title in WORDS, $value: 1}]", []),
}


@rows(("text", "expected"), USES.values(), ids=USES.keys())
def test_a_constant_is_the_value_that_it_stands_for(text: str, expected: Any) -> None:
    assert with_constants(f"spec: {text}\n") == expected


def test_every_kind_of_rule_knows_constants() -> None:
    rules = [
        CONSTANTS,
        CARD_RULE + "when: book.pages > LEAST\n",
        "rule: d\ndoc: D.\ndecide: loan_days\nvalue: 1 if pages < LEAST else 2\n",
        "rule: v\ndoc: V.\nvalidate: create\nassert: WORDS | length > 5\npath: a\nmessage: 'no {{ KAI }}'\n",
        "rule: x\ndoc: X.\ndefault: a\nof: Thing\nvalue: '{{ KAI }}'\n",
    ]
    made = build(sources(rules, {"card": CARD}), LENDING)
    assert [node.id for node in made.generate(shop(), 9)] == ["Card/north-emma", "Card/south-walden-pond"]
    assert made.decisions.loan_days(5, None) == 1
    assert [finding.message for finding in made.validate(shop(), "create")] == ["no kai-scheduler"]
    assert made.default("Thing", {}, shop()) == {"a": "kai-scheduler"}


def test_a_constant_of_the_user_takes_the_place_of_one_that_ships() -> None:
    shipped = sources([CONSTANTS, CARD_RULE], {"card": CARD + "spec: '{{ KAI }}'"})
    mine = sources("constants: {KAI: volcano}", origin="mine")
    assert build([*shipped, *mine], VOCABULARY).generate(shop(), 9)[0].object["spec"] == "volcano"


def test_equal_parts_of_all_templates_are_one() -> None:
    rules, templates = [CONSTANTS, CARD_RULE, BOX_RULE], {"card": CARD + "spec: '{{ LABELS }}'", "box": BOX + "spec: {a: one, b: two}"}
    made = program(rules, **templates).generate(shop(), 9)
    assert len({id(node.object["spec"]) for node in made}) == 1


@pytest.mark.parametrize("text", ["'{{ KAI }}'", "'by {{ KAI }}'", "'{{ KAI | upper }}'", '{$let: {word: "\'a\'"}, a: "{{ word }}"}'])
def test_what_is_written_with_constants_alone_is_traced_as_one(text: str) -> None:
    files = sources([CONSTANTS, CARD_RULE], {"card": CARD + f"spec: {{it: {text}}}"})
    node = build(files, VOCABULARY).generate(shop(), 9)[0]
    traced = {
        path: field.origin
        for path, field in Tracer(traced_rules(files, VOCABULARY), VOCABULARY).trace(node, shop()).fields.items()
        if path[0] == "spec"
    }
    assert [tuple(origin) for origin in traced.values()] == [("templates/card.yaml", 5, "")]


BAD_CONSTANTS: dict[str, tuple[str, str]] = {
    "a name in small letters": ("constants: {kai: 1}", "'kai' is not the name of a constant: words in capitals with `_` between them"),
    "an expression": ("constants: {A: 'x {{ shop }}'}", "a constant is a plain value, without {{ }} and template keys"),
    "an expression inside": ("constants: {A: [{b: '{{ shop }}'}]}", "a constant is a plain value, without {{ }} and template keys"),
    "a template key": ("constants: {A: {$merge: shop}}", "a constant is a plain value, without {{ }} and template keys"),
    "no map": ("constants: [A]", "`constants` is a map; found a list"),
    "another key": ("constants: {A: 1}\nrule: a", "a `constants` document has no key 'rule'; there are constants, doc"),
    "twice": ("constants: {A: 1}\n---\nconstants: {A: 2}", "the constant 'A' is already defined in rules/shop.yaml:1"),
    "a loop of that name": (
        "constants: {A: 1}\n---" + BOX_RULE.replace("shelf: shelves", "A: shelves, shelf: shelves"),
        "the loop's name 'A' hides",
    ),
    "a let of that name": ("constants: {A: 1}\n---" + BOX_RULE + "let: {A: '2'}", "'A' is the name of a constant"),
    "a name that is nearly right": ("constants: {LEAST: 1}\n---" + BOX_RULE + "when: LAEST > 1", "unknown name 'LAEST'"),
}


@rows(("text", "message"), BAD_CONSTANTS.values(), ids=BAD_CONSTANTS.keys())
def test_a_wrong_constant_is_reported(text: str, message: str) -> None:
    assert [one.message[: len(message)] for one in mistakes(text, box=BOX)] == [message]


def test_names_that_templates_bind_hide_no_constant() -> None:
    body = "spec: {$let: {A: '2'}, a: [{$for: A in shelves, $value: 1}]}"
    assert {one.message for one in mistakes(["constants: {A: 1}", CARD_RULE], card=CARD + body)} == {
        "'A' is the name of a constant",
        "the loop's name 'A' hides a name that is already in use",
    }


def test_a_constant_keeps_its_type() -> None:
    files = [RuleSource("rules/a.yaml", "constants: {A: one}", "grove"), RuleSource("rules/b.yaml", "constants: {A: 1}", "mine")]
    with pytest.raises(InvalidRules, match="the constant 'A' is text in the built-in rules; found a number"):
        build(files, VOCABULARY)
