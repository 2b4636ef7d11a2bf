"""What rules say about what runs: statuses, events, another look, deletions; and the time, which only they know."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.codegen.counting import CountingProgram
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.runtime.results import Event, event_name
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.engine.tracing.provenance import Tracer, traced_rules
from grove_compiler.graph.node import ObjectRef
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, Shelf, mistakes, program, shop, sources

STATUS = """
rule: box/status
doc: A box says what is in it.
status: status/box.yaml
forEach: {shelf: shelves}
of: shelf.ref
when: shelf.books
with: {count: shelf.books | length}
"""
STATUS_BODY = """
books: "{{ count }}"
first: "{{ shelf.best.title or omit }}"
seen: "{{ now }}"
"""
EVENT = """
rule: box/emptied
doc: An empty box is worth a word.
event: Warning
forEach: {shelf: shelves}
when: not shelf.books
of: shelf.ref
reason: Emptied
message: "nothing left in {{ shelf.name }}"
dedupKey: "{{ shop.name }}"
"""
AGAIN = """
rule: book/due
doc: Look again when a book is due.
requeue: now + book.pages if book.pages > 200 else none
forEach: {shelf: shelves, book: shelf.books}
"""
DELETE = """
rule: box/delete
doc: An empty box goes.
delete: shelf.ref
forEach: {shelf: shelves}
when: not shelf.books
reason: "{{ 'Emptied' if shelf.name else 'Lost' }}"
"""
ALL = [STATUS, EVENT, AGAIN, DELETE]
NOW = 1000.5
MADE = program(ALL, **{"status/box": STATUS_BODY})


def scope(*shelves: Shelf) -> dict[str, Any]:
    return {**shop(), **({"shelves": list(shelves)} if shelves else {}), "now": NOW}


# -- status ------------------------------------------------------------------------------------------------------------------------


def test_a_status_is_rendered_for_each_item_for_which_the_rule_holds() -> None:
    found = [(patch.of.name, patch.body, patch.rule, patch.loop) for patch in MADE.statuses(scope())]
    assert found == [
        ("north", {"books": 2, "first": "Emma", "seen": NOW}, "box/status", (0,)),
        ("south", {"books": 1, "seen": NOW}, "box/status", (1,)),
    ]


def test_a_patch_changes_a_status_by_the_id_of_its_rule() -> None:
    patch = "rule: p\ndoc: P.\npatch: box/status\nwhen: count > 1\ndo: [{op: add, path: /heavy, value: '{{ count * 2 }}'}]\n"
    made = program([STATUS, patch], **{"status/box": STATUS_BODY})
    assert [one.body.get("heavy") for one in made.statuses(scope())] == [4, None]


BAD_TEMPLATES = {
    "a whole object": ("status: box.yaml", {"box": BOX}, "'box.yaml' is no template for `status`: statuses stand below templates/status/"),
    "what is not there": ("status: status/bos.yaml", {"status/box": "a: 1"}, "there is no template 'status/bos.yaml'"),
}


@pytest.mark.parametrize(("line", "templates", "message"), BAD_TEMPLATES.values(), ids=BAD_TEMPLATES.keys())
def test_a_status_has_a_template_of_its_own_kind(line: str, templates: dict[str, str], message: str) -> None:
    (found,) = mistakes(STATUS.replace("status: status/box.yaml", line), **templates)
    assert (found.line, found.message.startswith(message)) == (4, True)


def test_no_object_is_generated_from_a_status() -> None:
    (found,) = mistakes(BOX_RULE.replace("box.yaml", "status/box.yaml"), **{"status/box": "a: 1"})
    assert found.message.startswith("'status/box.yaml' is no template for `generate`")


# -- event -------------------------------------------------------------------------------------------------------------------------


def events(*shelves: Shelf, made: Program = MADE) -> list[Event]:
    return made.events(scope(*shelves))


def test_an_event_says_what_happened_to_what() -> None:
    (event,) = events(Shelf("east"))
    assert (event.of, event.type, event.reason, event.message, event.rule) == (
        Shelf("east").ref,
        "Warning",
        "Emptied",
        "nothing left in east",
        "box/emptied",
    )


REF = ObjectRef("example.com/v1", "Box", "shop", "east", "uid-1")
OTHERS = {
    "another object": (REF._replace(name="west", uid=""), "r", "a"),
    "another incarnation": (REF._replace(uid="uid-2"), "r", "a"),
    "another rule": (REF, "s", "a"),
    "another occurrence": (REF, "r", "b"),
}


def test_an_event_told_again_has_the_same_name() -> None:
    assert event_name(REF, "r", "a") == event_name(REF._replace(), "r", "a")


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_another_event_has_another_name(other: tuple[ObjectRef, str, str]) -> None:
    assert event_name(*other) != event_name(REF, "r", "a")


@rows("length", [1, 63, 230, 236, 237, 253])
def test_the_name_of_an_event_is_one_that_kubernetes_takes(length: int) -> None:
    name = event_name(REF._replace(name="a" * (length // 2) + "-" * (length - length // 2 - 1) + "b"), "r", "a")
    assert (len(name) <= 253, name[0].isalnum(), "-." in name) == (True, True, False)


def test_without_once_the_message_tells_one_occurrence_from_the_next() -> None:
    made = program(EVENT.replace('once: "{{ shop.name }}"\n', "").replace("shelf.name }}", "shop.name }}"))
    names = [made.events({**scope(Shelf("east")), "shop": {"name": name}})[0].name for name in ("A", "B", "A")]
    assert (names[0] == names[2], names[0] == names[1]) == (True, False)


def test_the_type_of_an_event_is_one_that_kubernetes_knows() -> None:
    (found,) = mistakes(EVENT.replace("event: Warning", "event: Warnin"))
    assert (found.message, found.nearest) == ("`event` is one of Normal, Warning; found 'Warnin'", "Warning")


# -- again -------------------------------------------------------------------------------------------------------------------------


def test_the_earliest_time_counts() -> None:
    assert MADE.requeue_at(scope()) == NOW + 352


def test_none_is_no_wish() -> None:
    assert MADE.requeue_at(scope(Shelf("east"))) is None


# -- delete ------------------------------------------------------------------------------------------------------------------------


def test_a_deletion_says_what_has_to_go_and_why() -> None:
    found = [(one.of, one.reason, one.rule, one.loop) for one in MADE.deletions(scope(Shelf("east"), Shelf("west")))]
    assert found == [(Shelf("east").ref, "Emptied", "box/delete", (0,)), (Shelf("west").ref, "Emptied", "box/delete", (1,))]


def test_a_deletion_is_told_to_the_object_unless_the_rule_says_otherwise() -> None:
    quiet = program([DELETE + "attributed: false\n"])
    at = scope(Shelf("east"))
    assert [[one.is_attributed for one in made.deletions(at)] for made in (MADE, quiet)] == [[True], [False]]


def deletion(id: str, after: str = "") -> str:
    return f"rule: {id}\ndoc: A.\ndelete: shelves[0].best.anything\nreason: A\n" + (f"after: {after}\n" if after else "")


def test_deletions_come_in_the_order_that_after_demands() -> None:
    made = program([deletion("a", "[c]"), deletion("b", "[a]"), deletion("c")])
    assert [one.rule for one in made.deletions(scope())] == ["c", "a", "b"]


def test_a_program_knows_which_statuses_are_written_before_a_deletion() -> None:
    rules = [DELETE + "after: [box/*]\n", STATUS, "rule: box/full\ndoc: A.\nvalidate: create\nassert: shop\npath: a\nmessage: b\n"]
    made = program(rules, **{"status/box": STATUS_BODY})
    assert next(rule.after for rule in made.rules if rule.verb == "delete") == (("box/status", 1),)


@pytest.mark.parametrize("after", ["box/shelf", "check", "box/patched", "nothing"])
def test_a_deletion_waits_for_deletions_and_statuses_alone(after: str) -> None:
    others = [
        BOX_RULE,
        "rule: check\ndoc: A.\nvalidate: create\nassert: shop\npath: a\nmessage: b\n",
        "rule: box/patched\ndoc: A.\npatch: Box\ndo: [{op: remove, path: /a}]\n",
    ]
    (found,) = mistakes([DELETE + f"after: [{after}]\n", *others], box=BOX)
    assert found.message == f"no rule that deletes or writes a status is called {after!r}"


# -- wait --------------------------------------------------------------------------------------------------------------------------

WAIT = """
rule: box/empty
doc: An empty box waits for a book.
wait: NoBooks
forEach: {shelf: shelves}
when: not shelf.books
of: shelf.ref
for: shelves[0].ref
since: now - 60
message: "nothing left in {{ shelf.name }}"
resolve: put a book in
"""


def test_a_wait_says_what_waits_for_what_and_since_when() -> None:
    (found,) = program([WAIT]).waits(scope(Shelf("east")))
    expected = (Shelf("east").ref, "NoBooks", "nothing left in east", "put a book in", NOW - 60, Shelf("east").ref, "box/empty")
    assert (found.of, found.reason, found.message, found.resolve, found.since, found.on, found.rule) == expected


def test_a_wait_for_nothing_that_is_an_object_and_since_nobody_knows_when() -> None:
    short = "\n".join(line for line in WAIT.splitlines() if not line.startswith(("for:", "since:", "resolve:")))
    (found,) = program([short]).waits(scope(Shelf("east")))
    assert (found.on, found.since, found.resolve) == (None, None, "")


def test_what_a_wait_is_for_has_to_be_an_object() -> None:
    (found,) = mistakes(WAIT.replace("for: shelves[0].ref", "for: shelf.name"))
    assert found.line == 8


# -- the time ----------------------------------------------------------------------------------------------------------------------

TIMELESS = {
    "default": "rule: a\ndoc: A.\ndefault: a\nof: Thing\nvalue: '{{ now }}'\n",
    "validate": "rule: a\ndoc: A.\nvalidate: create\nassert: now\npath: spec\nmessage: wrong\n",
    "generate": BOX_RULE + "when: now > 5\n",
    "patch": BOX_RULE + "---\nrule: a\ndoc: A.\npatch: Box\nwhen: now\ndo: [{op: remove, path: /spec}]\n",
}


@pytest.mark.parametrize("rule", TIMELESS.values(), ids=TIMELESS.keys())
def test_what_is_desired_does_not_depend_on_the_time(rule: str) -> None:
    (found,) = mistakes(rule, box=BOX)
    assert found.message.startswith("`now` is for rules about what runs; what is desired must not depend on the time")


def test_a_condition_knows_the_time() -> None:
    rule = "rule: a\ndoc: A.\ncondition: Late\nof: shelves[0].ref\ncases: [{status: 'True', reason: A, message: '{{ now }}'}]\n"
    assert program(rule).conditions(scope())[0].message == str(NOW)


def test_where_nobody_says_what_time_it_is_it_is_the_epoch() -> None:
    assert MADE.requeue_at(shop()) == 352


# -- all of them -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule", [EVENT.replace("of: shelf.ref", "of: shelf.name"), DELETE.replace("delete: shelf.ref", "delete: shelf.name")]
)
def test_what_a_rule_is_about_is_a_reference(rule: str) -> None:
    (found,) = mistakes(rule)
    assert found.message == "it gives text, and ObjectRef is needed"


def test_a_time_is_a_number() -> None:
    (found,) = mistakes("rule: a\ndoc: A.\nrequeue: shelves[0].name | string\n")
    assert (found.line, found.message) == (3, "it gives text, and a number is needed")


def test_a_program_that_was_kept_says_the_same() -> None:
    kept = Program.load(MADE.dump(), VOCABULARY)
    for shelves in ((), (Shelf("east"),)):
        at = scope(*shelves)
        assert [one.body for one in kept.statuses(at)] == [one.body for one in MADE.statuses(at)]
        assert [one.name for one in kept.events(at)] == [one.name for one in MADE.events(at)]
        assert [one.of for one in kept.deletions(at)] == [one.of for one in MADE.deletions(at)]
        assert kept.requeue_at(at) == MADE.requeue_at(at)


def test_what_each_rule_did_is_counted() -> None:
    made = CountingProgram(sources(ALL, {"status/box": STATUS_BODY}), VOCABULARY)
    at = scope(*shop()["shelves"], Shelf("east"))
    made.statuses(at), made.events(at), made.requeue_at(at), made.deletions(at)
    assert made.counts == {"box/status": 2, "box/emptied": 1, "book/due": 2, "box/delete": 1}


def test_a_rule_that_fails_names_its_place() -> None:
    with pytest.raises(RuleFailure, match=r"^rules/shop.yaml:4: the rule 'book/due' failed"):
        program(AGAIN.replace("now + book.pages", "now + book.anything")).requeue_at(scope())


SLICED = Vocabulary(VOCABULARY.roots, slices="shelves")


@pytest.mark.parametrize(("part", "count"), [("all", 2), ("rest", 0), (0, 1), (1, 1), (2, 0)])
def test_each_verb_runs_for_a_slice(part: Any, count: int) -> None:
    made = build(sources(ALL, {"status/box": STATUS_BODY}), SLICED)
    at = scope()
    empty = scope(Shelf("east"), Shelf("west"))
    lengths = [len(made.statuses(at, "", part)), len(made.events(empty, "", part)), len(made.deletions(empty, "", part))]
    assert (lengths, (made.requeue_at(at, "", part) is not None)) == ([count] * 3, count > 0)


def test_rules_about_what_runs_can_be_traced_beside_others() -> None:
    rules = [*ALL, BOX_RULE, CARD_RULE]
    files = sources(rules, {"status/box": STATUS_BODY, "box": BOX, "card": CARD})
    node = build(files, VOCABULARY).generate(shop(), 9)[0]
    assert Tracer(traced_rules(files, VOCABULARY), VOCABULARY).trace(node, shop()).fields[("kind",)].origin.file == "templates/box.yaml"
