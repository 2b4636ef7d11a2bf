"""Status conditions: the first case that holds."""

from __future__ import annotations

import pytest

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.results import StatusCondition

from .bookshop import Shelf, mistakes, program, shop

RULE = """
rule: box/full
doc: A box with two books is full.
condition: Full
forEach: {shelf: shelves}
of: shelf.ref
cases:
- {when: shelf.books | length > 1, status: "True", reason: Full, message: "holds {{ shelf.books | length }} books"}
- {when: shelf.name == 'south', status: Unknown, reason: South, message: far}
- {status: "False", reason: "{{ shelf.name | upper }}", message: not full}
"""


def conditions(rule: str, *shelves: Shelf) -> list[StatusCondition]:
    return program(rule).conditions({"shelves": list(shelves)} if shelves else shop())


def test_a_condition_says_all_that_its_case_says() -> None:
    found = conditions(RULE)[0]
    assert (found.of, found.type, found.status, found.reason, found.message, found.rule) == (
        Shelf("north").ref,
        "Full",
        "True",
        "Full",
        "holds 2 books",
        "box/full",
    )


def test_the_first_case_that_holds_counts() -> None:
    assert [found.reason for found in conditions(RULE, *shop()["shelves"], Shelf("east"))] == ["Full", "South", "EAST"]


def test_without_a_case_that_holds_there_is_no_condition() -> None:
    rule = RULE.replace('- {status: "False", reason: "{{ shelf.name | upper }}", message: not full}\n', "")
    assert conditions(rule, Shelf("east")) == []


def test_a_status_may_be_written_as_a_boolean() -> None:
    assert conditions(RULE.replace('"False"', "false").replace("status: false", "status: False"), Shelf("east"))[0].status == "False"


def test_a_status_may_be_an_expression() -> None:
    rule = RULE.replace('status: "False"', "status: \"{{ 'True' if shelf.name == 'east' else 'False' }}\"")
    assert conditions(rule, Shelf("east"))[0].status == "True"


@pytest.mark.parametrize(("when", "count"), [("true", 2), ("false", 0), ("shelf.best", 1)])
def test_a_condition_is_computed_for_items_for_which_the_rule_holds(when: str, count: int) -> None:
    assert len(conditions(RULE + f"when: {when}\n")) == count


def test_a_case_that_is_not_reached_is_not_evaluated() -> None:
    assert len(conditions(RULE.replace("shelf.name == 'south'", "shelf.name == 'south' or fails()"), Shelf("south"))) == 1


def test_names_are_for_all_cases() -> None:
    rule = RULE.replace("shelf.books | length > 1", "count > 1").replace("{{ shelf.books | length }}", "{{ count }}")
    assert conditions(rule + "let: {count: shelf.books | length}\n")[0].message == "holds 2 books"


MISTAKES = {
    "of": (RULE.replace("of: shelf.ref", "of: shelf.reff"), 6, "ref"),
    "when": (RULE.replace("shelf.name == 'south'", "shelf.nam == 'south'"), 9, "name"),
    "message": (RULE.replace("{{ shelf.books |", "{{ shelf.boks |"), 8, "books"),
    "reason": (RULE.replace("{{ shelf.name |", "{{ shel.name |"), 10, "shelf"),
}


@pytest.mark.parametrize(("rule", "line", "nearest"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_wrong_expression_is_reported_with_its_line(rule: str, line: int, nearest: str) -> None:
    (found,) = mistakes(rule)
    assert (found.line, found.nearest) == (line, nearest)


def test_a_case_that_fails_names_its_line() -> None:
    with pytest.raises(RuleFailure, match=r"rules/shop.yaml:9: "):
        conditions(RULE.replace("shelf.name == 'south'", "shelf.name // 1"), Shelf("south"))
