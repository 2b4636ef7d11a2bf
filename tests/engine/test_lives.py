"""Lives: documents with states and transitions, which become rules when they are loaded."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.language.load import load
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules
from tests.suite.rows import rows

from .bookshop import VOCABULARY, Author, Book, Shelf, mistakes, program, sources

LENDING_LIFE = """
life: book/lending
doc: A book is lent and comes back.
forEach: {shelf: shelves, book: shelf.books}
of: shelf.ref
let: {due: book.pages, told: "state ~ ' ' ~ transition ~ ' ' ~ next"}
state: "'Lent' if book.former_title else 'Here'"
states:
  Here: It stands on its shelf.
  Lent:
    doc: Somebody has it.
    while:
      - {event: Normal, reason: Away, message: "{{ book.title }} is away"}
  Lost: {doc: It does not come back., final: true}
transitions:
  - name: Lend
    from: Here
    to: Lent
    when: [book.words, book.pages > 10]
    then:
      - {delete: shelf.ref, reason: Lent, forEach: {word: book.words}, when: word != 'no'}
  - {name: Overdue, from: Lent, to: Lost, at: due, then: [{event: Warning, reason: Lost, message: "{{ told }}"}]}
  - {name: Remind, from: Lent, when: book.words, then: [{event: Normal, reason: Reminder, message: "{{ told }}"}]}
  - {observed: somebody brings it back, from: Lent, to: Here}
always:
  - {condition: Known, of: shelf.ref, cases: [{status: "True", reason: "{{ next }}", message: known}]}
"""
ASKED = """
life: book/time
doc: For how many days a book is lent, as a life that is asked.
decide: lending_time
state: "'Short' if pages < 100 else 'Long'"
states:
  Short: few pages
  Long: many pages
transitions:
  - {name: Grow, from: Short, to: Long, when: author is not none}
  - {name: Shrink, from: Long, to: Short, when: author is none}
"""


def lending_time(pages: int, author: Author | None) -> str:
    """Whether a book is lent for a short or a long time: declared here, decided by the life."""
    raise NotImplementedError


def lending(now: float, **book: Any) -> dict[str, Any]:
    return {"shelves": [Shelf("a", [Book("tome", **book)])], "shop": {}, "now": now}


def messages(of: Program, scope: dict[str, Any]) -> list[str]:
    return [event.message for event in of.events(scope)]


def test_each_effect_becomes_a_rule_with_its_own_place_and_id() -> None:
    assert [(rule.id, rule.verb, rule.line) for rule in program(LENDING_LIFE).rules] == [
        ("book/lending/known", "condition", 26),
        ("book/lending/lent/event", "event", 13),
        ("book/lending/lend/delete", "delete", 21),
        ("book/lending/overdue/event", "event", 22),
        ("book/lending/remind/event", "event", 23),
        ("book/lending/overdue/requeue", "requeue", 22),
    ]


def test_the_first_transition_that_fires_is_taken_and_no_other() -> None:
    lives = program(LENDING_LIFE)
    lent = {"former_title": "t", "words": ["yes"]}
    assert messages(lives, lending(500.0, pages=400, **lent)) == ["tome is away", "Lent Overdue Lost"]
    assert messages(lives, lending(300.0, pages=400, **lent)) == ["tome is away", "Lent Remind Lent"]
    assert messages(lives, lending(300.0, pages=400, former_title="t")) == ["tome is away"]


def test_a_transition_at_a_time_asks_for_a_step_at_that_time_while_its_state_holds() -> None:
    lives = program(LENDING_LIFE)
    assert lives.requeue_at(lending(300.0, pages=400, former_title="t")) == 400
    assert lives.requeue_at(lending(400.0, pages=400, former_title="t")) is None
    assert lives.requeue_at(lending(300.0, pages=400)) is None


def test_effects_have_loops_and_conditions_of_their_own() -> None:
    found = program(LENDING_LIFE).deletions(lending(0.0, pages=400, words=["no", "yes", "yes"]))
    assert [(one.rule, one.loop) for one in found] == [("book/lending/lend/delete", (0, 0, 1)), ("book/lending/lend/delete", (0, 0, 2))]


def test_an_effect_of_every_step_knows_the_next_state() -> None:
    lives = program(LENDING_LIFE)
    [condition] = lives.conditions(lending(0.0, pages=400, words=["yes"]))
    assert condition.reason == "Lent"
    [condition] = lives.conditions(lending(0.0, pages=5, words=["yes"]))
    assert condition.reason == "Here"


def test_a_life_that_is_a_decision_gives_the_next_state() -> None:
    decide = build(sources(ASKED), replace(VOCABULARY, decisions={"lending_time": lending_time})).decisions.lending_time
    assert [decide(10, None), decide(10, "somebody"), decide(500, "somebody"), decide(500, None)] == ["Short", "Long", "Long", "Short"]


@pytest.mark.parametrize(
    ("right", "wrong", "line"), [("'Short' if pages < 100 else 'Long'", "pages", 5), ("author is not none", "autor", 10)]
)
def test_a_mistake_in_a_decision_is_reported_at_its_line_in_the_life(right: str, wrong: str, line: int) -> None:
    with pytest.raises(InvalidRules) as invalid:
        build(sources(ASKED.replace(right, wrong)), replace(VOCABULARY, decisions={"lending_time": lending_time}))
    assert {finding.line for finding in invalid.value.diagnostics} == {line}


def test_a_life_of_the_same_id_replaces_all_of_it_and_disable_removes_all_of_it() -> None:
    own = LENDING_LIFE.replace("Away", "Elsewhere").replace("  - {observed", "  - {name: More, from: Lent, when: 'true'}\n  - {observed")
    replaced = build([*sources(LENDING_LIFE), *sources(own, origin="user")], VOCABULARY)
    assert [event.reason for event in replaced.events(lending(0.0, pages=400, former_title="t"))] == ["Elsewhere"]
    removed = build([*sources(LENDING_LIFE), *sources("disable: book/lending", origin="user")], VOCABULARY)
    assert not removed.rules


def test_one_effect_can_be_replaced_by_a_rule_of_its_id() -> None:
    own = (
        "rule: book/lending/lent/event\ndoc: Ours.\nevent: Normal\nforEach: {shelf: shelves}\nof: shelf.ref\nreason: Ours\nmessage: ours\n"
    )
    replaced = build([*sources(LENDING_LIFE), *sources(own, origin="user")], VOCABULARY)
    assert messages(replaced, lending(0.0, pages=400, former_title="t")) == ["ours"]


def test_a_guard_that_fails_is_reported_at_its_line_in_the_life() -> None:
    lives = program(LENDING_LIFE.replace("book.pages > 10", "book.anything > 10"))
    with pytest.raises(RuleFailure) as failure:
        lives.deletions(lending(0.0, words=["yes"]))
    assert (failure.value.diagnostic.line, failure.value.diagnostic.path) == (19, "transitions[0].when[1]")


def test_a_time_that_is_a_number_gives_no_warning_of_pythons() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(LENDING_LIFE.replace("at: due", "at: 0"))


WRONG = [
    ("from: Here", "from: Hier", "there is no state 'Hier'; there are Here, Lent, Lost"),
    ("to: Lost", "to: Here", "no transition leads to the state 'Lost'"),
    ("Lost: {doc: It does not come back., final: true}", "Lost: It does not come back.", "no transition leaves the state 'Lost'"),
    ("final: true", "final: 'yes'", "`final` is true or false; found text"),
    ("name: Remind", "name: Overdue", "there is already a transition 'Overdue'"),
    ("name: Remind", "name: remind", "'remind' is not the name of a transition"),
    ("at: due, ", "", "Remind never fires: Overdue, which comes first, fires whenever it would"),
    ("{observed: somebody", "{when: 'true', observed: somebody", "a transition that the cluster makes has no key 'when'"),
    ("let: {due", "let: {next: 1, due", "'next' is a name that each life has"),
    ("{event: Normal, reason: Away", "{wait: Normal, reason: Away", "an effect has exactly one verb of status, condition"),
    ("{event: Normal, reason: Away", "{event: Normal, rule: a/b, reason: Away", "an event effect has no key 'rule'"),
    ("book.pages > 10", "book.sheets > 10", "Book has no attribute 'sheets'"),
    ("  Here: It", "  here: It", "'here' is not the name of a state"),
    ("of: shelf.ref\nlet", "decide: loan_days\nlet", "a life that is a decision has no effects"),
    ("life: book/lending", "life: Book", "an id is lower-case words"),
]


@rows(("right", "wrong", "message"), WRONG)
def test_mistakes_in_lives_are_named_with_what_would_be_right(right: str, wrong: str, message: str) -> None:
    found = [finding.message for finding in mistakes(LENDING_LIFE.replace(right, wrong))]
    assert any(message in one for one in found), found


def test_lives_are_read_as_they_are_written() -> None:
    life = load(sources(LENDING_LIFE)).rules[0].life
    assert life is not None
    assert [(one.name, one.sources, one.target) for one in life.transitions] == [
        ("Lend", ["Here"], "Lent"),
        ("Overdue", ["Lent"], "Lost"),
        ("Remind", ["Lent"], "Lent"),
        ("", ["Lent"], "Here"),
    ]
