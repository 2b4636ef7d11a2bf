"""Generated code is compiled in pieces, so that a build with other rules of a user compiles the others no second time."""

from __future__ import annotations

from types import CodeType

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.codegen.module_codegen import RULES_AT_ONCE
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, shop, sources

MANY = 3 * RULES_AT_ONCE
CHECKS = [f"rule: check/{n}\ndoc: D.\nvalidate: create\nassert: true\npath: a\nmessage: no\n" for n in range(MANY)]
SHIPPED = [BOX_RULE, *CHECKS, f"{CARD_RULE}after: [box/shelf]\n"]


def program_with(rules: str) -> Program:
    mine = [RuleSource("rules/mine.yaml", rules, "mine")] if rules else []
    return build([*sources(SHIPPED, {"box": BOX, "card": CARD}), *mine], VOCABULARY)


def pieces(program: Program) -> tuple[CodeType, ...]:
    return program._codes


def test_a_rule_of_a_user_leaves_the_pieces_before_it_as_they_were() -> None:
    mine = CHECKS[0].replace("check/0", "my/check").replace("path: a", "path: b")
    before, after = pieces(program_with("")), pieces(program_with(mine))
    same = [one is other for one, other in zip(before, after, strict=True)]
    assert same[: MANY // RULES_AT_ONCE] == [True] * (MANY // RULES_AT_ONCE)
    assert not all(same)


def test_a_constant_of_a_user_leaves_all_functions_where_they_were() -> None:
    patch = "rule: my/patch\ndoc: D.\npatch: Box\ndo: [{op: add, path: /metadata/labels/mine, value: %s}]\n"
    before, after = (pieces(program_with(patch % f"{{some: {value}}}")) for value in ("text", "other"))
    assert [one is other for one, other in zip(before, after, strict=True)].count(False) <= 2


@pytest.mark.parametrize("place", ["in the first piece", "in the last"])
def test_what_fails_in_any_piece_is_told_with_its_line(place: str) -> None:
    replaced, kind = ("box/shelf", "box") if place == "in the first piece" else ("my/last", "card")
    loops = "forEach: {shelf: shelves}\n" if kind == "box" else "forEach: {shelf: shelves, book: shelf.books}\nafter: [card/book]\n"
    rule = f"rule: {replaced}\ndoc: D.\ngenerate: {kind}.yaml\n{loops}let:\n  share: 1 // (shelves | length - 2)\nwhen: share\n"
    with pytest.raises(RuleFailure, match=rf"^rules/mine.yaml:{rule[: rule.index('  share:')].count(chr(10)) + 1}: "):
        program_with(rule).generate(shop(), 100)
