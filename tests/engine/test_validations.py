"""Validations: what a finding says, and when there is one."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.sources import InvalidRules, SubjectNames, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

from .bookshop import VOCABULARY, Shelf, mistakes, program, shop, sources

RULE = """
rule: validate/pages
doc: A book is not too long.
validate: [create, update]
forEach: {shelf: shelves, book: shelf.books}
assert: book.pages < 400
path: "shelves[{{ shelf.name }}].{{ book.slug }}"
message: "has {{ book.pages }} pages"
"""


def findings(rule: str, operation: str = "create", scope: dict[str, Any] | None = None) -> list[Diagnostic]:
    return program(rule).validate(scope or shop(), operation)


def test_there_is_a_finding_for_each_item_for_which_the_assertion_does_not_hold() -> None:
    assert [(found.path, found.message) for found in findings(RULE)] == [("shelves[north].emma", "has 474 pages")]


def test_a_finding_is_an_error_named_after_its_rule() -> None:
    (found,) = findings(RULE)
    assert (found.code, found.severity, found.type, found.value, found.nearest, found.hint, found.at) == (
        "validate/pages",
        "error",
        "",
        None,
        "",
        "",
        "",
    )


KEYS: dict[str, tuple[str, str, Any]] = {
    "severity": ("severity: warning", "severity", "warning"),
    "type": ("type: Duplicate value", "type", "Duplicate value"),
    "value": ("value: book.pages", "value", 474),
    "a value that is a list": ("value: book.words", "value", ["wit", "love", "wit"]),
    "a constant value": ("value: 5", "value", 5),
    "hint": ("hint: 'tear out {{ book.pages - 399 }} pages'", "hint", "tear out 75 pages"),
    "at": ("at: 'shelves.{{ shelf.name }}'", "at", "shelves.north"),
    "known": ("value: \"'Ema'\"\nknown: shelf.titles", "nearest", "Emma"),
    "known that is far": ("value: \"'xxxxxxxxx'\"\nknown: shelf.titles", "nearest", ""),
    "known that is none": ("value: \"'Ema'\"\nknown: shop.nothing", "nearest", ""),
    "a value that is no text": ("value: book.pages\nknown: '[475, 3]'", "nearest", "475"),
}


@rows(("line", "attribute", "expected"), KEYS.values(), ids=KEYS.keys())
def test_a_finding_says_what_its_rule_says(line: str, attribute: str, expected: Any) -> None:
    (found,) = findings(RULE + line)
    assert getattr(found, attribute) == expected


ASSERTIONS = {
    "assert: true": 0,
    "assert: false": 3,
    "assert: [true, book.pages < 400]": 1,
    "assert: [book.pages < 400, book.pages > 200]": 2,
    "assert: book.author": 1,
    "assert: shop.nothing": 3,
}


@rows(("line", "count"), ASSERTIONS.items())
def test_all_assertions_must_hold(line: str, count: int) -> None:
    assert len(findings(RULE.replace("assert: book.pages < 400", line))) == count


def test_a_later_assertion_is_not_evaluated_when_an_earlier_one_fails() -> None:
    assert len(findings(RULE.replace("assert: book.pages < 400", "assert: [false, fails()]"))) == 3


def test_assertions_do_not_mix_their_brackets() -> None:
    assert mistakes(RULE.replace("assert: book.pages < 400", "assert: ['true) or (true', 'true']"))


def test_a_wrong_assertion_is_reported_with_its_own_line() -> None:
    (found,) = mistakes(RULE.replace("assert: book.pages < 400", "assert:\n- true\n- book.pags < 1"))
    assert (found.line, found.nearest) == (8, "pages")


WHENS = {
    "when: true": 1,
    "when: false": 0,
    "when: book.author": 1,
    "when: [book.author, book.author.country]": 1,
    "when: [book.author.country == 'France']": 0,
    "when: not book.author": 0,
    "when: shelf.name == 'south'": 0,
}


@rows(("line", "count"), WHENS.items())
def test_a_rule_speaks_only_of_items_for_which_its_conditions_hold(line: str, count: int) -> None:
    assert len(findings(RULE + line)) == count


def test_a_condition_on_the_outer_item_guards_the_inner_loop() -> None:
    assert (
        findings(RULE.replace("shelf.books", "(shelf.best.words and shelf.books)") + "when: shelf.best", scope={"shelves": [Shelf("a")]})
        == []
    )


def test_names_are_for_all_keys() -> None:
    rule = (
        RULE.replace("book.pages < 400", "size < 400").replace("{{ book.pages }}", "{{ size }}")
        + "let: {size: book.pages + extra, extra: 1}"
    )
    assert [found.message for found in findings(rule)] == ["has 475 pages"]


OPERATIONS = {"create": (1, 0), "update": (0, 1), "[create, update]": (1, 1), "[update]": (0, 1)}


@pytest.mark.parametrize(("operations", "counts"), OPERATIONS.items())
def test_a_rule_is_checked_on_the_operations_that_it_names(operations: str, counts: tuple[int, int]) -> None:
    rule = RULE.replace("[create, update]", operations)
    assert (len(findings(rule, "create")), len(findings(rule, "update"))) == counts


def test_a_rule_for_updates_sees_the_former_input() -> None:
    rule = RULE.replace("[create, update]", "update").replace("book.pages < 400", "book.pages <= old.pages")
    found = findings(rule, "update", shop(old={"pages": 300}))
    assert [finding.path for finding in found] == ["shelves[north].emma", "shelves[south].walden-pond"]


@pytest.mark.parametrize("operations", ["create", "[create, update]"])
def test_a_rule_that_is_also_for_creation_does_not_see_a_former_input(operations: str) -> None:
    rule = RULE.replace("[create, update]", operations).replace("book.pages < 400", "old.pages")
    (found,) = mistakes(rule)
    assert found.message.startswith("unknown name 'old'")


def test_findings_come_in_the_order_of_rules_and_items() -> None:
    second = RULE.replace("validate/pages", "validate/other")
    found = findings(f"{RULE.replace('400', '1')}---\n{second.replace('400', '1')}")
    assert [(finding.code, finding.path.rpartition(".")[2]) for finding in found] == [
        (rule, book) for rule in ("validate/pages", "validate/other") for book in ("emma", "faust", "walden-pond")
    ]


FAILING = {
    "assert": (RULE.replace("book.pages < 400", "book.pages < book.anything"), 6),
    "path": (RULE.replace("{{ shelf.name }}", "{{ shop.nothing }}"), 7),
    "message": (RULE.replace("{{ book.pages }}", "{{ shop.nothing }}"), 8),
    "value": (RULE + "value: book.pages + book.anything", 9),
    "when": (RULE + "when: book.pages + book.anything", 9),
    "let": (RULE + "let:\n  x: book.pages + book.anything", 10),
}


@rows(("rule", "line"), FAILING.values(), ids=FAILING.keys())
def test_a_validation_that_fails_names_its_line(rule: str, line: int) -> None:
    with pytest.raises(RuleFailure) as caught:
        findings(rule)
    assert (caught.value.diagnostic.file, caught.value.diagnostic.line) == ("rules/shop.yaml", line)


# -- subjects ----------------------------------------------------------------------------------------------------------------------

SUBJECTS = Vocabulary(
    VOCABULARY.roots,
    subjects={
        "Shelf": SubjectNames({"it": Shelf}, {"former": Shelf}),
        "Shop": SubjectNames({"it": dict[str, Any]}),
        "Box": SubjectNames({"it": Shelf}),
    },
)
ABOUT = "rule: validate/{0}\ndoc: A.\nvalidate: {2}\nabout: {1}\nassert: {3}\npath: it\nmessage: wrong\n"


def test_a_rule_is_about_the_kind_that_it_names() -> None:
    rules = [ABOUT.format("a", "Shelf", "create", "it.name != 'a'"), ABOUT.format("b", "Shop", "create", "it.name != 'a'")]
    made = build(sources(rules), SUBJECTS)
    found = {
        kind: [f.code for f in made.validate({"it": it}, "create", kind)]
        for kind, it in {"Shelf": Shelf("a"), "Shop": {"name": "a"}}.items()
    }
    assert found == {"Shelf": ["validate/a"], "Shop": ["validate/b"]}


def test_a_rule_that_names_no_kind_is_about_the_first() -> None:
    made = build(sources(ABOUT.format("a", "Shelf", "create", "false").replace("about: Shelf\n", "")), SUBJECTS)
    assert [len(made.validate({"it": Shelf("a")}, "create", kind)) for kind in ("Shelf", "Shop")] == [1, 0]


def test_a_rule_about_two_kinds_sees_the_names_that_are_the_same_in_both() -> None:
    made = build(sources(ABOUT.format("a", "[Shelf, Box]", "create", "it.name")), SUBJECTS)
    assert made.validate({"it": Shelf("a")}, "create", "Box") == []


def test_a_rule_about_two_kinds_does_not_see_a_name_of_two_types() -> None:
    with pytest.raises(InvalidRules, match="unknown name 'it'"):
        build(sources(ABOUT.format("a", "[Shelf, Shop]", "create", "it.name")), SUBJECTS)


def test_a_rule_about_an_unknown_kind_is_reported_with_the_nearest() -> None:
    with pytest.raises(InvalidRules) as caught:
        build(sources(ABOUT.format("a", "Shelv", "create", "true")), SUBJECTS)
    assert caught.value.diagnostics[0].nearest == "Shelf"


def test_names_on_update_belong_to_their_kind() -> None:
    made = build(sources(ABOUT.format("a", "Shelf", "update", "it.name == former.name")), SUBJECTS)
    assert len(made.validate({"it": Shelf("a"), "former": Shelf("b")}, "update", "Shelf")) == 1
