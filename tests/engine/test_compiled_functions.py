"""The function that a rule becomes is the same whether it is compiled now or was in an earlier build, whatever rules are beside it."""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.codegen import generated_rules
from grove_compiler.engine.codegen.block import Block
from grove_compiler.engine.codegen.build import compile_rules
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.place import RuleFile, SourceLocation
from grove_compiler.engine.sources import RuleSource

OWN = "rule: mine/a\ndoc: D.\nvalidate: create\nforEach: {clique: set.cliques}\nassert: clique.name == 'a'\npath: clique.path\nmessage: m\n"


def described(code: CodeType | None) -> list[Any]:
    """All that running code, or failing in it, depends on."""
    if code is None:
        return []
    parts = [described(part) if isinstance(part, CodeType) else part for part in code.co_consts]
    named = [code.co_qualname, code.co_filename, code.co_varnames, code.co_names, code.co_freevars]
    return [named, parts, code.co_flags, code.co_stacksize, code.co_code, list(code.co_positions())]


def functions_of(sources: list[RuleSource]) -> dict[str, list[Any]]:
    compiled = compile_rules(load(sources), VOCABULARY)
    return {rule.id: described(code) for rule, code in zip(compiled.rules, compiled.codes, strict=True)}


def test_rules_that_a_user_adds_change_nothing_about_the_functions_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = read_rulebook().sources()
    beside = functions_of([RuleSource("rules/own.yaml", OWN, "user"), *ours])
    monkeypatch.setattr(generated_rules, "_compiled", {})
    alone = functions_of(ours)
    assert beside.keys() - alone.keys() == {"mine/a"}
    assert [rule for rule, function in alone.items() if beside[rule] != function] == []


def test_a_function_that_is_too_deep_for_python_is_none() -> None:
    loops = Block(["def rule(x):", *(f"{' ' * depth}for i{depth} in x:" for depth in range(1, 30)), f"{' ' * 30}pass"])
    assert loops.compiled("too/deep") is None


def test_lines_without_a_place_have_that_of_the_line_before() -> None:
    block, file = Block(), RuleFile("a.yaml", None, lambda *_: None)
    first, second = (SourceLocation(file, (key,)) for key in ("let", "value"))
    block.open("def rule(x):")
    block.add(f"y = (x +{block.mark(first)}1)")
    block.add("return y", second)
    function = block.compiled("a/b")
    assert function is not None
    assert (function.lines, function.places) == ((-1, 0, 0, 1, 1), (("a.yaml", 1, "let"), ("a.yaml", 1, "value")))


def test_lazy_parts_are_declared_where_their_level_begins() -> None:
    block = Block()
    block.open("def rule(x):")
    block.begin_level(0)
    block.open("for i in x:")
    block.begin_level(1)
    names = [block.lazy(depth) for depth in (1, 0, 1)]
    assert names == ["h1", "h2", "h3"]
    assert block.source() == "def rule(x):\n h2 = None\n for i in x:\n  h1 = h3 = None\n return"
