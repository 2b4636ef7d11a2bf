"""A module of which most functions have been compiled before is the same as one that is compiled as a whole."""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.codegen import build, module_code
from grove_compiler.engine.codegen.module_code import code_of
from grove_compiler.engine.runtime.failure import MODULE
from grove_compiler.engine.sources import RuleSource

OWN = "rule: mine/a\ndoc: D.\nvalidate: create\nforEach: {clique: set.cliques}\nassert: clique.name == 'a'\npath: clique.path\nmessage: m\n"


def described(code: CodeType) -> list[Any]:
    """All that running code, or failing in it, depends on."""
    parts = [described(part) if isinstance(part, CodeType) else part for part in code.co_consts]
    named = [code.co_qualname, code.co_filename, code.co_varnames, code.co_names, code.co_freevars]
    return [named, parts, code.co_flags, code.co_stacksize, code.co_code, list(code.co_positions())]


def compiled(source: str) -> CodeType:
    return compile(source, MODULE, "exec", dont_inherit=True)


def test_rules_that_a_user_adds_change_nothing_about_the_code_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of the rules behind it are elsewhere in the module, and those of the rules before it are not."""
    made: dict[str, CodeType | None] = {}

    def kept(source: str) -> CodeType | None:
        made[source] = code_of(source)
        return made[source]

    monkeypatch.setattr(build, "code_of", kept)
    monkeypatch.setattr(module_code, "_compiled", {})
    ours = read_rulebook().sources()
    for sources in (ours, [RuleSource("rules/own.yaml", OWN, "user"), *ours], [*ours, RuleSource("rules/own.yaml", OWN, "user")]):
        build.build(sources, VOCABULARY)
    assert len(made) == 3
    for source, code in made.items():
        assert code is not None
        whole = {part.co_name: part for part in compiled(source).co_consts if isinstance(part, CodeType)}
        parts = {part.co_name: part for part in code.co_consts if isinstance(part, CodeType)}
        assert parts.keys() == whole.keys()
        assert [name for name, part in parts.items() if described(part) != described(whole[name])] == []


MODULES = ["K_1 = {'a': 1}\ndef rule_0(a):\n return [a for a in K_1]\ndef fn_b():\n return 2\n", "K_1 = 2\n", ""]


@pytest.mark.parametrize("source", MODULES, ids=["functions", "constants alone", "nothing"])
def test_whatever_was_compiled_before_a_module_does_the_same(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_code, "_compiled", {})
    for _ in range(2):
        code = code_of(source)
        assert code is not None
        values: dict[str, Any] = {}
        exec(code, values)
        assert "fn_b" not in values or (values["fn_b"](), values["rule_0"](3)) == (2, ["a"])


def test_a_function_that_is_too_deep_is_so_beside_those_that_were_compiled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_code, "_compiled", {})
    fine = "".join(f"def rule_{index}():\n return {index}\n" for index in range(3))
    assert code_of(fine) is not None
    loops = "".join(f"{' ' * depth}for i{depth} in x:\n" for depth in range(1, 30))
    assert code_of(f"{fine}def rule_3(x):\n{loops}{' ' * 30}pass\n") is None
