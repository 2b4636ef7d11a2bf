"""What the rules of a file have in common, which its first document says."""

from __future__ import annotations

import pytest

from grove_compiler.engine.codegen.build import build, compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.sources import RuleSource
from grove_compiler.engine.tracing.provenance import Tracer, traced_rules
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, mistakes, program, shop, sources

PATCH = "rule: patch/a\ndoc: A.\npatch: Card\ndo: [{op: add, path: /spec, value: 1}]\n"


def head(when: str) -> str:
    return f"rules: Some of the shop.\nwhen: {when}\n"


def made(*rules: str) -> list[str]:
    """The names of the objects that rules make."""
    return [node.object["metadata"]["name"] for node in program([*rules], card=CARD, box=BOX).generate(shop(), 100)]


def test_a_condition_of_the_file_holds_for_each_of_its_rules() -> None:
    everything = made(BOX_RULE, CARD_RULE)
    south = [name for name in everything if name.startswith("south")]
    assert 0 < len(south) < len(everything)
    assert made(head("shelf.name == 'south'"), BOX_RULE, CARD_RULE) == south


def test_it_comes_before_the_conditions_of_the_rule() -> None:
    assert made(head("[shelf.best, 'false']"), BOX_RULE + "when: fails()") == []
    assert made(head("shelf.name == 'south'"), BOX_RULE + "when: shelf.name == 'north'") == []


def test_it_holds_for_patches() -> None:
    files = [*sources(CARD_RULE, {"card": CARD}), RuleSource("rules/more.yaml", f"{head('book.pages > 300')}---\n{PATCH}", "grove")]
    nodes = build(files, VOCABULARY).generate(shop(), 100)
    assert [(node.object["metadata"]["name"], node.object.get("spec")) for node in nodes] == [
        ("north-emma", 1),
        ("north-faust", None),
        ("south-walden-pond", 1),
    ]


def test_it_does_not_hold_for_other_files() -> None:
    one, other = sources([head("'false'"), BOX_RULE], {"box": BOX, "card": CARD}), sources(CARD_RULE)
    rules = {rule.id: [condition.text for condition in rule.conditions] for rule in load([*one, *other]).rules}
    assert rules == {"box/shelf": ["false"], "card/book": []}


def test_an_explanation_names_its_line() -> None:
    files = sources([head("shelf.name"), CARD_RULE + "when: book.pages"], {"card": CARD})
    node = program([head("shelf.name"), CARD_RULE + "when: book.pages"], card=CARD).generate(shop(), 100)[0]
    guards = Tracer(traced_rules(files, VOCABULARY), VOCABULARY).trace(node, shop()).conditions
    assert [(guard.rule, guard.file, guard.line, guard.text) for guard in guards] == [
        ("card/book", "rules/shop.yaml", 2, "shelf.name"),
        ("card/book", "rules/shop.yaml", 10, "book.pages"),
    ]


MISTAKES = {
    "no condition": (["rules: A.", BOX_RULE], "a `rules` document needs the key `when`", 1),
    "another key": (["rules: A.\nwhen: shelf\nforEach: {shelf: shelves}", BOX_RULE], "a `rules` document has no key 'forEach'", 3),
    "a map": (["rules: A.\nwhen: {a: b}", BOX_RULE], "`when` is an expression, or a list of expressions; found a map", 2),
    "not at the head": ([BOX_RULE, "rules: A.\nwhen: shelf"], "what the rules of a file have in common is its first document", 8),
    "a decision": (["rules: A.\nwhen: 1", "rule: a\ndoc: A.\ndecide: loan_days\nvalue: 1"], "a decision is made whenever it is called", 4),
    "an unknown attribute": (["rules: A.\nwhen: shelf.nam", BOX_RULE], "(included by rules/shop.yaml:5)", 2),
    "a name that the rule does not bind": (["rules: A.\nwhen: book", BOX_RULE], "(included by rules/shop.yaml:5)", 2),
}


@rows(("rules", "message", "line"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_reported_once_at_its_line(rules: list[str], message: str, line: int) -> None:
    (found,) = mistakes(rules, box=BOX)
    assert (message in found.message, found.line) == (True, line), found


@pytest.mark.parametrize("when", ["shelf.name", "[shelf.name, shelf.best]"])
def test_the_code_is_that_of_rules_with_the_condition_each(when: str) -> None:
    files = [[head(when), BOX_RULE, CARD_RULE], [f"{rule}when: {when}\n" for rule in (BOX_RULE, CARD_RULE)]]
    shared, each = (compile_rules(load(sources(rules, {"box": BOX, "card": CARD})), VOCABULARY).codes for rules in files)
    assert [code.co_code for code in shared if code] == [code.co_code for code in each if code] != []
