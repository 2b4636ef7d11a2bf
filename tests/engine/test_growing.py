"""Reuse in the engine, which knows no kind of ours: cards for books on a shelf that gets longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from grove_compiler.engine.build import build
from grove_compiler.engine.growing import Growing, Record
from grove_compiler.engine.program import Condition, Program, TooManyObjects
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.node import Node, ObjectRef
from tests.engine.bookshop import sources

MARK = [0]


def look() -> None:
    MARK[0] += 1


@dataclass
class Page:
    book: Book = field(repr=False)
    number: int

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef("v1", "Page", "", f"page-{self.number}")


@dataclass
class Book:
    """A book whose length can be had only with a look. `turned` counts how often a page was made something of."""

    length: int
    turned: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        look()
        return self.length

    @property
    def pages(self) -> list[Page]:
        look()
        return [Page(self, number) for number in range(self.length)]

    def turn(self, number: int) -> int:
        """Notes that a page is looked at."""
        self.turned.append(number)
        return number


VOCABULARY = Vocabulary(roots={"book": Book}, growing=Growing("book.pages", lambda: MARK[0]))
PLAIN = "book.turn(page.number)"
RULE = """
rule: page/scan
doc: Each page is scanned.
generate: page.yaml
forEach: {{page: {loop}}}
"""
CONDITION = """
rule: page/read
doc: Each page can be read.
condition: Read
forEach: {page: book.pages}
of: page.ref
cases: [{status: "True", reason: "R", message: "{{ book.turn(page.number) }}"}]
"""
TEMPLATE = 'apiVersion: v1\nkind: Page\nmetadata: {{name: "page-{{{{ page.number }}}}"}}\nspec: {{of: "{{{{ {text} }}}}"}}\n'


def program(text: str = PLAIN, loop: str = "book.pages", more: str = "") -> Program:
    return build(sources(RULE.format(loop=loop) + more, {"page": TEMPLATE.format(text=text)}), VOCABULARY)


def run(used: Program, book: Book, former: Record | None = None, limit: int = 100) -> tuple[list[Node], Record]:
    record = Record(former)
    return used.generate({"book": book}, limit, (), "", record), record


@pytest.mark.parametrize("after", range(6))
def test_only_items_that_were_not_there_are_made(after: int) -> None:
    used = program()
    former, record = run(used, Book(3))
    book = Book(after)
    nodes, _ = run(used, book, record)
    assert book.turned == list(range(3, after))
    assert nodes[:3] == former[:after]
    assert [node.loop for node in nodes] == [(number,) for number in range(after)]


def test_what_was_reused_can_be_reused_again() -> None:
    used, record = program(), None
    for length in (2, 4, 3, 6):
        book = Book(length)
        nodes, record = run(used, book, record)
    assert (len(nodes), book.turned) == (6, [3, 4, 5])


LOOKS = {
    "for every item": "book.turn(page.number) ~ book.count",
    "by way of an item": "book.turn(page.number) ~ page.book.count",
    "for some items": "book.turn(page.number) ~ (book.count if page.number == 1 else '')",
}


@pytest.mark.parametrize("text", LOOKS.values(), ids=LOOKS.keys())
def test_a_look_at_the_length_makes_all_anew(text: str) -> None:
    used = program(text)
    _, record = run(used, Book(3))
    book = Book(4)
    nodes, _ = run(used, book, record)
    assert book.turned == [0, 1, 2, 3]
    assert nodes == run(used, Book(4))[0]


def test_a_look_for_a_new_item_leaves_the_old_ones_and_makes_all_anew_the_next_time() -> None:
    used = program("book.turn(page.number) ~ (book.count if page.number > 2 else '')")
    _, record = run(used, Book(3))
    book = Book(5)
    _, record = run(used, book, record)
    assert book.turned == [3, 4]
    book = Book(6)
    assert run(used, book, record)[0] == run(used, Book(6))[0]
    assert book.turned == [0, 1, 2, 3, 4, 5]


def test_a_look_before_the_loop_makes_all_anew() -> None:
    used = program(more="when: book.count > 1\n")
    _, record = run(used, Book(3))
    assert [len(run(used, Book(length), record)[0]) for length in (1, 2, 4)] == [0, 2, 4]


def test_a_rule_with_another_loop_is_run_as_ever() -> None:
    used = program(loop="'book.pages[:2]'")
    _, record = run(used, Book(3))
    assert record.made == {}
    assert len(run(used, Book(1), record)[0]) == 1


def test_inner_loops_and_guards_belong_to_their_item() -> None:
    rule = "rule: a/b\ndoc: d.\ngenerate: page.yaml\nforEach: {page: book.pages, copy: range(page.number)}\nwhen: copy != 1\n"
    template = 'apiVersion: v1\nkind: Page\nmetadata: {name: "{{ page.number }}-{{ copy }}"}\n'
    used = build(sources(rule, {"page": template}), VOCABULARY)
    _, record = run(used, Book(4))
    for length in range(7):
        assert run(used, Book(length), record)[0] == run(used, Book(length))[0]


@pytest.mark.parametrize(("limit", "fits"), [(3, False), (4, False), (5, True)])
def test_reuse_keeps_the_limit(limit: int, fits: bool) -> None:
    used = program()
    _, record = run(used, Book(4))
    if fits:
        assert len(run(used, Book(5), record, limit)[0]) == 5
    else:
        with pytest.raises(TooManyObjects):
            run(used, Book(5), record, limit)


def test_more_than_the_limit_is_not_reused() -> None:
    used = program()
    _, record = run(used, Book(4))
    with pytest.raises(TooManyObjects):
        run(used, Book(4), record, 3)


def test_conditions_are_reused_alike() -> None:
    used = build(sources(CONDITION), VOCABULARY)
    record = Record()
    used.conditions({"book": Book(2)}, "", record)
    book = Book(4)
    found: list[Condition] = used.conditions({"book": book}, "", Record(record))
    assert ([condition.of.name for condition in found], book.turned) == ([f"page-{number}" for number in range(4)], [2, 3])


def test_without_a_record_nothing_is_remembered() -> None:
    used = program()
    assert [len(used.generate({"book": Book(length)}, 100)) for length in (2, 3)] == [2, 3]


def test_spaces_in_the_loop_do_not_matter() -> None:
    _, record = run(program(loop="' book.pages '"), Book(2))
    assert [made.ends for made in record.made.values()] == [[1, 2]]


def test_a_vocabulary_without_such_a_list_has_plain_loops() -> None:
    vocabulary = Vocabulary(roots={"book": Book})
    used = build(sources(RULE.format(loop="book.pages"), {"page": TEMPLATE.format(text=PLAIN)}), vocabulary)
    record: Any = Record()
    assert len(used.generate({"book": Book(2)}, 100, (), "", record)) == 2
    assert record.made == {}


def test_a_dump_keeps_which_rules_reuse() -> None:
    used = Program.load(program().dump(), VOCABULARY)
    _, record = run(used, Book(2))
    book = Book(3)
    run(used, book, record)
    assert book.turned == [2]
