"""Decisions: rules that answer what the model and other rules ask by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.codegen.counting import CountingProgram
from grove_compiler.engine.runtime import cost_budget
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, Vocabulary
from tests.suite.rows import rows

from .bookshop import CARD, CARD_RULE, LENDING, VOCABULARY, Author, mistakes, program, shop, sources

RULE = """
rule: lending/days
doc: Long books are lent for longer.
decide: loan_days
value: 28 if pages > 300 else 14
"""
CASES = """
rule: lending/days
doc: Long books are lent for longer.
decide: loan_days
let: {known: author is not none}
cases:
- {when: pages > 300 and known, value: 28}
- {when: known, value: 14}
- {value: 7}
"""


def loan_days(rule: str = RULE) -> Callable[..., int]:
    decided: Callable[..., int] = program(rule).decisions.loan_days
    return decided


@pytest.mark.parametrize(("pages", "days"), [(300, 14), (301, 28)])
def test_the_model_asks_for_a_decision_by_name(pages: int, days: int) -> None:
    assert loan_days()(pages, None) == days


@pytest.mark.parametrize(("pages", "author", "days"), [(301, Author("Austen"), 28), (300, Author("Austen"), 14), (301, None, 7)])
def test_the_first_case_that_holds_decides(pages: int, author: Author | None, days: int) -> None:
    assert loan_days(CASES)(pages, author) == days


@pytest.mark.parametrize("call", ["loan_days(book.pages, book.author)", "loan_days(author=book.author, pages=book.pages)"])
def test_any_expression_may_ask_for_a_decision(call: str) -> None:
    made = program([RULE, CARD_RULE], card=CARD + f"spec: {{days: '{{{{ {call} }}}}'}}")
    assert [node.object["spec"]["days"] for node in made.generate(shop(), 9)] == [28, 14, 28]


def test_a_decision_may_ask_for_another() -> None:
    vocabulary = Vocabulary({}, decisions={"longest": longest, **LENDING.decisions})
    longer = "rule: lending/longest\ndoc: A.\ndecide: longest\nvalue: loan_days(pages, none) * 2\n"
    assert build(sources([longer, RULE]), vocabulary).decisions.longest(400) == 56


def longest(pages: int) -> int:
    """The most days that anybody may keep a book."""
    raise NotImplementedError


def test_a_rule_of_the_user_replaces_a_decision_by_id() -> None:
    mine = sources(RULE.replace("28 if pages > 300 else 14", "3"), origin="mine")
    assert build([*sources(RULE), *mine], LENDING).decisions.loan_days(500, None) == 3


def test_a_program_that_was_kept_decides_the_same() -> None:
    assert Program.load(program(CASES).dump(), LENDING).decisions.loan_days(301, Author("Austen")) == 28


def test_a_program_knows_which_rule_decides() -> None:
    (rule,) = program(RULE).rules
    assert (rule.verb, rule.details) == ("decide", {"decision": "loan_days", "about": []})


def test_it_is_counted_how_often_a_decision_is_asked_for() -> None:
    made = CountingProgram(sources([RULE, CARD_RULE], {"card": CARD + "spec: '{{ loan_days(book.pages, none) }}'"}), LENDING)
    made.generate(shop(), 9)
    assert made.counts["lending/days"] == 3


# -- what goes wrong ---------------------------------------------------------------------------------------------------------------

FAILURES = {
    "division by zero": ("pages // 0", "ZeroDivisionError"),
    "a division": ("pages // 0", "ZeroDivisionError"),
}


@pytest.mark.parametrize(("value", "what"), FAILURES.values(), ids=FAILURES.keys())
def test_a_decision_that_fails_names_its_own_place(value: str, what: str) -> None:
    with pytest.raises(RuleFailure, match=rf"^rules/shop.yaml:5: the rule 'lending/days' failed: {what}"):
        loan_days(RULE.replace("28 if pages > 300 else 14", value))(1, Author("Austen"))


def test_a_decision_that_fails_is_to_blame_whichever_rule_asked() -> None:
    made = program([RULE.replace("28 if pages > 300 else 14", "pages // 0"), CARD_RULE], card=CARD + "spec: '{{ loan_days(1, none) }}'")
    with pytest.raises(RuleFailure, match=r"^rules/shop.yaml:5: the rule 'lending/days' failed"):
        made.generate(shop(), 9)


def test_a_decision_that_reads_what_rests_on_it_fails_instead_of_ending_the_program() -> None:
    class Circular(Author):
        @property
        def name(self) -> str:
            return str(asked[0](1, self))

        @name.setter
        def name(self, _: str) -> None: ...

    asked = [loan_days(RULE.replace("28 if pages > 300 else 14", "14 if author.name == 'x' else 28"))]
    with pytest.raises(RuleFailure, match="RecursionError"):
        asked[0](1, Circular("x"))


def test_decisions_of_users_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_budget, "MAX_STEPS", 1000)
    rule = RULE.replace("28 if pages > 300 else 14", "range(50000) | length")
    assert build(sources(rule), LENDING).decisions.loan_days(1, None) == 50000
    with pytest.raises(RuleFailure, match="it takes more than 1,000 steps"):
        build(sources(rule, origin="mine"), LENDING).decisions.loan_days(1, None)


def said(*rules: str) -> list[tuple[int, str, str]]:
    return [(finding.line, finding.message, finding.nearest) for finding in mistakes(list(rules))]


VALUE = "28 if pages > 300 else 14"
MISTAKES: dict[str, tuple[str, int, str]] = {
    "an unknown decision": (RULE.replace("loan_days", "loan_day"), 4, "there is no decision 'loan_day'; there are loan_days"),
    "a name that is no parameter": (RULE.replace("pages >", "shelves >"), 5, "unknown name 'shelves'; in scope are author, pages"),
    "the time": (RULE.replace(VALUE, "now"), 5, "`now` is for rules about what runs; what is desired must not depend on the time"),
    "a value of another type": (RULE.replace(VALUE, "pages | string"), 5, "it gives text, and a number is needed"),
    "a truth for a number": (RULE.replace(VALUE, "pages > 1"), 5, "it gives a boolean, and a number is needed"),
    "nothing to decide with": (RULE.replace(f"value: {VALUE}\n", ""), 2, "a decide rule has either `value` or `cases`"),
    "both": (RULE + "cases: [{value: 1}]\n", 2, "a decide rule has either `value` or `cases`"),
    "a condition": (RULE + "when: pages\n", 6, "a decide rule has no key 'when'"),
    "a loop": (RULE + "forEach: {a: pages}\n", 6, "a decide rule has no key 'forEach'"),
    "no last case": (CASES.replace("- {value: 7}\n", ""), 8, "something is always decided, so the last case has no `when`"),
    "a case after the last": (CASES.replace("when: known, ", ""), 8, "a case without `when` always holds"),
    "a wrong case": (CASES.replace("value: 7", "value: pges"), 9, "unknown name 'pges'"),
    "an unknown key of a case": (CASES.replace("value: 7", "valeu: 7"), 9, "a case has no key 'valeu'"),
    "itself": (RULE.replace(VALUE, "loan_days(pages, author)"), 4, "decisions that rest on each other: lending/days on lending/days"),
}


@rows(("rule", "line", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_wrong_decision_is_reported_at_its_line(rule: str, line: int, message: str) -> None:
    assert [found[0] for found in said(rule) if found[1].startswith(message)] == [line], said(rule)


CALLS = {
    "loan_days('long', none)": "loan_days(pages, author): 'pages' is text, not a number",
    "loan_days(book.pages, book)": "loan_days(pages, author): 'author' is Book, not Author or none",
    "loan_days(book.pages)": "loan_days(pages, author): missing a required argument: 'author'",
    "loan_dais(1, none)": "unknown function 'loan_dais'",
}


@pytest.mark.parametrize(("call", "message"), CALLS.items(), ids=CALLS.keys())
def test_a_wrong_question_is_reported(call: str, message: str) -> None:
    found = mistakes([RULE, CARD_RULE], card=CARD + f'spec: "{{{{ {call} }}}}"')
    assert [finding.message for finding in found] == [message]


def test_what_may_be_none_is_no_mistake_since_guards_are_not_followed() -> None:
    assert mistakes(RULE.replace(VALUE, "pages if author is none else (author.country | length)")) == []


def test_a_decision_that_nobody_makes_is_reported() -> None:
    with pytest.raises(InvalidRules, match="no rule decides 'loan_days'; one has to say `decide: loan_days`"):
        build([], LENDING)


def test_a_decision_of_an_earlier_release_is_told_what_has_its_place() -> None:
    vocabulary = replace(LENDING, former_decisions={"loan_weeks": "loan_days has its place"})
    with pytest.raises(InvalidRules) as invalid:
        build(sources([RULE, RULE.replace("loan_days", "loan_weeks").replace("rule: ", "rule: old-")]), vocabulary)
    assert "'loan_weeks' is no decision any more: loan_days has its place" in [one.message for one in invalid.value.diagnostics]


def test_the_only_rule_that_decides_cannot_be_taken_out() -> None:
    (found,) = mistakes([RULE, "disable: [lending/days]"])
    assert (found.line, found.message) == (
        8,
        "'lending/days' cannot be taken out, for nothing else decides 'loan_days'; a rule of that id replaces it",
    )


def test_two_rules_for_one_decision_are_a_mistake_that_names_the_other() -> None:
    (found,) = mistakes([RULE.strip(), RULE.strip().replace("lending/days", "lending/more")])
    assert (found.line, found.message) == (
        8,
        "'loan_days' is decided by 'lending/days' already, in rules/shop.yaml:1; a rule of that id replaces it",
    )


def test_decisions_that_rest_on_each_other_are_reported() -> None:
    vocabulary = Vocabulary({}, decisions={"longest": longest, **LENDING.decisions})
    longer = "rule: lending/longest\ndoc: A.\ndecide: longest\nvalue: loan_days(pages, none)\n"
    rules = [longer, RULE.replace(VALUE, "longest(pages)")]
    with pytest.raises(InvalidRules, match="rest on each other: lending/longest on lending/days on lending/longest"):
        build(sources(rules), vocabulary)


def test_a_decision_is_a_plain_function_without_anything_around_it() -> None:
    function: Any = loan_days()
    assert (function.__name__, function.__code__.co_filename) == ("fn_loan_days", "<grove rule lending/days>")


def test_a_vocabulary_without_decisions_has_none() -> None:
    assert vars(build([], VOCABULARY).decisions) == {}
