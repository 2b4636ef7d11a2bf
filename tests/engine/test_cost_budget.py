"""Rules that would run for ever end with their place, and rules of users also before they fill the memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime import cost_budget as budget
from grove_compiler.engine.runtime.access import MAX_TEXT, EvaluationError
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, RuleSource
from grove_compiler.engine.tracing.provenance import Tracer, traced_rules
from grove_compiler.graph.diagnostic import MAX_FINDINGS, Diagnostic

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, shop, sources


@pytest.fixture(autouse=True)
def fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tests are quick: a twentieth of what rules may do."""
    monkeypatch.setattr(budget, "MAX_STEPS", budget.MAX_STEPS // 20)


def of_a_user(*rules: dict[str, Any], **templates: str) -> Program:
    text = "\n---\n".join(json.dumps({"doc": "A.", **rule}) for rule in rules)
    mine = [RuleSource(f"templates/{name}.yaml", body, "mine") for name, body in templates.items()]
    shipped = sources([BOX_RULE, CARD_RULE], {"box": BOX, "card": CARD})
    return build([*shipped, RuleSource("rules/mine.yaml", text, "mine"), *mine], VOCABULARY)


def failure(program: Program) -> Diagnostic:
    with pytest.raises(RuleFailure) as failed:
        program.generate(shop(), 10_000)
        program.validate(shop(), "create")
    return failed.value.diagnostic


def doubled(what: str, times: int) -> dict[str, str]:
    """Names that each hold the former twice."""
    return {"x0": what, **{f"x{number + 1}": f"x{number} + x{number}" for number in range(times)}}


MINE = "apiVersion: example.com/v1\nkind: Mine\nmetadata: {{name: '{}'}}\n"
LONG = "range(100000)"
NAMES: dict[str, dict[str, str]] = {
    "a list that doubles": doubled("[1, 2]", 60),
    "a text that doubles": doubled("'ab'", 60),
    "a text that doubles by `~`": {"x0": "'ab'", **{f"x{n + 1}": f"x{n} ~ x{n}" for n in range(60)}},
    "a list of lists of lists": {"x0": "[1] * 1000", "x1": "[x0] * 1000", "x2": "[x1] * 1000", "x3": "[x2] * 1000"},
    "maps in maps": {"x0": "{'a': 1}", **{f"x{n + 1}": f"{{'a': x{n}, 'b': x{n}}}" for n in range(60)}},
    "a text that is replaced": {"x0": "'a' * 100000", "x1": "x0 | replace('a', x0)"},
    "many texts that are replaced": {"x0": "'a' * 100000", "x1": f"{LONG} | map('string') | map('replace', '1', 'a' * 90000) | list"},
    "a separator": {"x0": "'a' * 100000", "x1": f"{LONG} | join(x0)"},
    "a text as JSON": {"x0": "['a' * 1000] * 1000", "x1": "[x0] * 1000", "x2": "x1 | tojson"},
    "one expression of many terms": {"x0": "'a' * 100000", "x1": " ~ ".join(["x0"] * 50)},
    "one sum of many lists": {"x0": LONG, "x1": " + ".join(["x0"] * 50)},
    "comparisons": {"x0": LONG, "x1": " and ".join(["x0 == x0"] * 50)},
    "searching for each": {"x0": LONG, "x1": "x0 | reject('in', x0)"},
    "searching": {"x0": LONG, "x1": " or ".join(["-1 in x0"] * 50)},
    "filters": {"x0": LONG, "x1": "[" + ", ".join(["x0 | map('string') | list | length"] * 50) + "]"},
    "slices": {"x0": LONG, "x1": "[" + ", ".join(["x0[1:] | length"] * 50) + "]"},
}
LETS = [{"let": names, "when": f"{list(names)[-1]} is none"} for names in NAMES.values()]
LOOPS: dict[str, dict[str, Any]] = {
    "loops over loops": {"forEach": {"a": LONG, "b": LONG, "c": LONG}, "when": "c < 0"},
    "loops with an inner condition": {"forEach": {"a": LONG, "b": LONG}, "when": "a + b < 0"},
}
CASES = dict(zip(NAMES, LETS, strict=True)) | LOOPS


@pytest.mark.parametrize("keys", CASES.values(), ids=CASES.keys())
def test_a_rule_that_generates_ends(keys: dict[str, Any]) -> None:
    found = failure(of_a_user({"rule": "mine", "generate": "mine.yaml", **keys}, mine=MINE.format("1")))
    assert (found.code, found.file, "'mine' failed" in found.message) == ("rules/failed", "rules/mine.yaml", True)


@pytest.mark.parametrize("keys", CASES.values(), ids=CASES.keys())
def test_a_validation_ends(keys: dict[str, Any]) -> None:
    found = failure(of_a_user({"rule": "mine", "validate": "create", "assert": "false", "path": "a", "message": "b", **keys}))
    assert (found.code, found.file) == ("rules/failed", "rules/mine.yaml")


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_a_patch_of_a_shipped_rule_ends_and_is_named_by_its_place(names: dict[str, str]) -> None:
    add = {"op": "add", "path": "/spec", "value": "{{ " + list(names)[-1] + " }}"}
    assert failure(of_a_user({"rule": "mine", "patch": "Card", "let": names, "do": [add]})).file == "rules/mine.yaml"


def test_a_patch_that_fails_is_named_beside_the_rule_whose_object_it_changes() -> None:
    patches = [
        {"rule": f"p{n}", "patch": "Card", "do": [{"op": "add", "path": "/a", "value": "{{ book.pages / " + str(n) + " }}"}]}
        for n in (1, 0)
    ]
    assert failure(of_a_user(*patches)).message.startswith("the rule 'p0', for an object of 'card/book', failed: ")


def test_a_rule_beside_a_patch_is_named_alone() -> None:
    patch = {"rule": "p", "patch": "Card", "do": [{"op": "remove", "path": "/a"}]}
    rule = {"rule": "mine", "generate": "mine.yaml", "when": "1 / 0"}
    assert failure(of_a_user(patch, rule, mine=MINE.format("a"))).message.startswith("the rule 'mine' failed: ")


def test_a_patch_that_doubles_what_it_finds_ends() -> None:
    add = {"op": "add", "path": "/spec", "value": {"a": "{{ object.spec or 1 }}", "b": "{{ object.spec or 1 }}"}}
    assert failure(of_a_user({"rule": "mine", "patch": "Card", "do": [add] * 60})).file == "rules/mine.yaml"


def test_a_patch_that_loops_over_loops_ends() -> None:
    do = {"forEach": {"a": LONG, "b": LONG}, "when": "a + b < 0", "op": "remove", "path": "/spec"}
    assert failure(of_a_user({"rule": "mine", "patch": "Card", "do": [do]})).file == "rules/mine.yaml"


def test_a_template_that_loops_over_loops_ends_in_the_template() -> None:
    body = f"{CARD}spec:\n- $for: a in {LONG}\n  b:\n  - {{$for: b in range(100000 - a), c: 1}}\n"
    assert failure(of_a_user(card=body)).file == "templates/card.yaml"


def test_findings_without_end_end() -> None:
    rule = {"rule": "mine", "validate": "create", "forEach": {"a": LONG}, "assert": "false", "path": "a", "message": "b"}
    assert len(of_a_user(rule).validate(shop(), "create")) <= MAX_FINDINGS + 1  # the last says how many more there are


def test_findings_that_each_take_long_end() -> None:
    rule = {"rule": "mine", "validate": "create", "forEach": {"a": LONG, "b": LONG}, "assert": "b < 100000", "path": "a", "message": "b"}
    assert "steps" in failure(of_a_user(rule)).message


def test_more_objects_may_take_more_steps() -> None:
    inner = budget.MAX_STEPS // 100
    rule = {"rule": "mine", "generate": "mine.yaml", "forEach": {"a": "range(400)"}, "let": {"b": f"range({inner} + a) | sum"}}
    template = MINE.format("{{ a }}-{{ b + a }}")
    assert len(of_a_user(rule, mine=template).generate(shop(), 10_000)) > 400


SHIPPED_LOOPS = {
    "loops over loops": f"forEach: {{a: {LONG}, b: {LONG}}}\nwhen: a + b < 0\n",
    "a list for each item of a list": f"forEach: {{a: {LONG}}}\nwhen: ({LONG} | select('none') | length) > a\n",
    "looking for each item of a list in a list": f"when: ({LONG} | select('in', {LONG}) | length) < 0\n",
    "looking in a list for each item of a loop": f"forEach: {{a: {LONG}}}\nwhen: (a + 100000) in {LONG}\n",
}


@pytest.mark.parametrize("keys", SHIPPED_LOOPS.values(), ids=SHIPPED_LOOPS.keys())
def test_a_rule_that_ships_ends_too(keys: str) -> None:
    found = failure(build(sources(f"rule: ours\ndoc: A.\ngenerate: ours.yaml\n{keys}", {"ours": MINE.format("1")}), VOCABULARY))
    assert (found.code, found.file, found.message.startswith("the rule 'ours' failed: it takes more than")) == (
        "rules/failed", "rules/shop.yaml", True,
    )  # fmt: skip


def test_the_size_of_what_ships_is_not_metered() -> None:
    rule = f"rule: big\ndoc: A.\ngenerate: big.yaml\nlet: {{x: '{' + '.join(['range(99999)'] * 9)}'}}\n"
    shipped = sources(rule, {"big": MINE.format("{{ x | length }}")})
    assert build(shipped, VOCABULARY).generate(shop(), 10)[0].object["metadata"]["name"] == 9 * 99_999


def test_what_has_run_can_be_traced() -> None:
    rule = {"rule": "mine", "generate": "mine.yaml", "forEach": {"a": "range(50)"}, "let": {"b": "range(2000 + a) | sum"}}
    template = MINE.format("{{ a }}-{{ b + a }}")
    text = json.dumps({"doc": "A.", **rule})
    given = [RuleSource("rules/mine.yaml", text, "mine"), RuleSource("templates/mine.yaml", template, "mine")]
    nodes = build(given, VOCABULARY).generate(shop(), 100)
    tracer = Tracer(traced_rules(given, VOCABULARY), VOCABULARY)
    assert [len(tracer.trace(node, shop()).fields) for node in nodes] == [3] * 50


class TestPaying:
    def test_each_part_is_paid_for_as_often_as_it_is_there(self) -> None:
        part = list(range(1000))
        with pytest.raises(EvaluationError, match="steps"):
            CostBudget().charge([part] * budget.MAX_STEPS)

    def test_a_value_is_given_back_itself(self) -> None:
        for value in (None, 1, True, "a", [1], (1,), {"a": [1]}):
            assert CostBudget().charge(value) is value

    def test_a_text_of_the_largest_size_is_fine(self) -> None:
        assert len(CostBudget().concat("a" * (MAX_TEXT - 1), 1)) == MAX_TEXT
        with pytest.raises(EvaluationError, match="characters"):
            CostBudget().concat("a" * MAX_TEXT, 1)

    def test_a_run_begins_anew(self) -> None:
        mine = CostBudget()
        for _ in range(3):
            mine.start()
            mine.spend(budget.MAX_STEPS)
        with pytest.raises(EvaluationError):
            mine.spend(1)


SLOW_PATTERNS = ["(a+)+b", "(a|a)*b", "(a*)*b", "(a|aa)+$b", "(.*a){20}b"]


@pytest.mark.parametrize("pattern", SLOW_PATTERNS)
@pytest.mark.parametrize("use", ["{0} is match('{1}')", "([{0}] | select('match', '{1}')) | length > 0", "{0} is match('{1}' ~ '')"])
def test_a_pattern_of_a_user_takes_time_that_grows_with_the_text_alone(pattern: str, use: str) -> None:
    text = "'" + "a" * 5000 + "'"
    made = of_a_user({"rule": "m", "validate": "create", "assert": use.format(text, pattern), "path": "a", "message": "no"})
    start = time.process_time()
    assert [one.code for one in made.validate(shop(), "create")] == ["m"]
    assert time.process_time() - start < 5  # `re` would need longer than the universe is old


@pytest.mark.parametrize("pattern", ["(a)\\1", "(?=a)a", "(", "a{1001}"])
def test_a_pattern_that_has_no_linear_time_is_refused_with_its_line(pattern: str) -> None:
    with pytest.raises(InvalidRules, match=r"^rules/mine.yaml:1: .* is not a regular expression") as refused:
        of_a_user({"rule": "m", "validate": "create", "assert": f"shop.name is match({pattern!r})", "path": "a", "message": "no"})
    assert len(refused.value.diagnostics) == 1


def test_patterns_that_ship_do_not_import_re2() -> None:
    rule = "rule: m\ndoc: D.\nvalidate: create\nassert: shop.name is match('[A-Z][a-z]+')\npath: a\nmessage: b\n"
    code = (
        "import sys; from tests.engine.bookshop import program, shop;"
        f"assert program({rule!r}).validate(shop(), 'create') == []; sys.exit('re2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
