"""What is built once and shared, and what is not built at all: where the speed comes from."""

from __future__ import annotations

from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, Book, Shelf, mistakes, nodes, objects, program, shop

SHARED_BY_ALL = {
    "a map": "part: {a: 1, b: [1, {c: 2}]}",
    "a list": "part: [1, 2]",
    "a map of roots": "part: {a: '{{ shop.name }}'}",
    "a list of roots": "part: [{$for: 'x in [1, 2]', $value: '{{ x }}'}]",
    "a call with roots": "part: '{{ [shop.name] | list }}'",
    "a guarded map": "part: {$if: shop.name, a: '{{ shop.name }}'}",
    "a merged map": "part: {$merge: shop}",
    "a map with names": "part: {$let: {x: shop.name}, a: '{{ x }}'}",
}


@rows("body", SHARED_BY_ALL.values(), ids=SHARED_BY_ALL.keys())
def test_a_part_that_no_loop_changes_is_one_object(body: str) -> None:
    first, second, third = (entry["spec"]["part"] for entry in objects(body))
    assert first is second is third


SHARED_ON_A_SHELF = {
    "a map": "part: {a: '{{ shelf.name }}'}",
    "a call": "part: '{{ shelf.titles | list }}'",
    "a loop": "part: [{$for: b in shelf.books, $value: '{{ b.title }}'}]",
    "a loop with a guard": "part: [{$for: b in shelf.books, $if: b.pages > 1, $value: '{{ b.title }}'}]",
    "a name of the template": "part: {$let: {x: shelf.name}, a: '{{ x }}'}",
    "a name of the rule": "part: {a: '{{ upper_name }}'}",
    "a part of a part": "outer: {own: '{{ book.title }}', part: {a: '{{ shelf.name }}'}}",
    "a dynamic key": "part: {'{{ shelf.name }}': 1}",
}


@rows("body", SHARED_ON_A_SHELF.values(), ids=SHARED_ON_A_SHELF.keys())
def test_a_part_that_only_the_outer_loop_changes_is_one_object_for_each_of_its_items(body: str) -> None:
    specs = [entry["spec"] for entry in objects(body, rule="let: {upper_name: shelf.name | upper}\n")]
    first, second, third = ((spec.get("outer") or spec)["part"] for spec in specs)
    assert (first is second, first is third) == (True, False)


def test_a_part_that_the_inner_loop_changes_is_built_for_each() -> None:
    first, second, _ = (entry["spec"]["part"] for entry in objects("part: {a: '{{ book.title }}'}"))
    assert first != second


def test_a_shared_part_inside_a_loop_of_the_template_is_built_once() -> None:
    (first, second, third) = objects("list: [{$for: w in book.words, part: {a: '{{ shelf.name }}'}}]")[0]["spec"]["list"]
    assert first["part"] is second["part"] is third["part"]


def test_a_loop_of_the_template_is_not_shared_by_its_items() -> None:
    made = objects("list: [{$for: w in book.words, part: {a: '{{ w }}', s: '{{ shelf.name }}'}}]")[0]["spec"]["list"]
    assert [entry["part"]["a"] for entry in made] == ["wit", "love", "wit"]


def test_a_patch_leaves_shared_parts_as_they_are() -> None:
    patch = "---\nrule: card/mark\ndoc: A mark.\npatch: Card\nwhen: book.pages > 400\ndo: [{op: add, path: /spec/part/mark, value: yes}]\n"
    first, second, third = (entry["spec"]["part"] for entry in objects("part: {a: {b: 1}}", rule=patch))
    assert (first, second is third, second, first["a"] is second["a"]) == ({"a": {"b": 1}, "mark": True}, True, {"a": {"b": 1}}, True)


def test_a_value_of_a_patch_is_shared_like_a_part_of_a_template() -> None:
    patch = "---\nrule: card/mark\ndoc: A mark.\npatch: Card\ndo: [{op: add, path: /spec/part, value: {a: '{{ shelf.name }}'}}]\n"
    first, second, third = (entry["spec"]["part"] for entry in objects("a: 1", rule=patch))
    assert (first is second, first is third) == (True, False)


NOT_EVALUATED = {
    "the `when` of a rule": ("when: false\n", "a: '{{ fails() }}'"),
    "the `when` of an outer loop": ("when: shelf.name == 'nowhere'\nlet: {x: fails(book)}\n", "a: '{{ x }}'"),
    "$if of a map": ("", "a: {$if: shop.nothing, b: '{{ fails() }}', c: {d: '{{ fails(shelf) }}'}}"),
    "$if of an item": ("", "a: [{$if: shop.nothing, b: '{{ fails(book) }}'}]"),
    "$if of a repeated item": ("", "a: [{$for: 'x in [1]', $if: shop.nothing, b: {c: '{{ fails(x) }}', d: '{{ fails(shelf) }}'}}]"),
    "$for over nothing": ("", "a: [{$for: 'x in []', b: {c: '{{ fails(shop) }}'}}]"),
    "`$let` under $if": ("", "a: {$if: shop.nothing, $let: {x: fails()}, b: '{{ x }}'}"),
    "`$merge` under $if": ("", "a: {$if: shop.nothing, $merge: fails()}"),
    "the other side of `if`": ("", "a: '{{ 1 if shop.name else fails() }}'"),
    "`and`": ("", "a: '{{ shop.nothing and fails() }}'"),
    "`or`": ("", "a: '{{ shop.name or fails() }}'"),
    "a patch that does not apply": (
        "---\nrule: card/x\ndoc: x!\npatch: Card\nwhen: shop.nothing\ndo: [{op: add, path: /a, value: {b: '{{ fails(shelf) }}'}}]\n",
        "a: 1",
    ),
    "an operation that does not apply": (
        "---\nrule: card/x\ndoc: x!\npatch: Card\ndo: [{when: shop.nothing, op: add, path: /a, value: '{{ fails(book) }}'}]\n",
        "a: 1",
    ),
}


@rows(("rule", "body"), NOT_EVALUATED.values(), ids=NOT_EVALUATED.keys())
def test_what_a_guard_keeps_out_is_not_evaluated(rule: str, body: str) -> None:
    assert isinstance(nodes(body, rule=rule), list)


def test_a_shared_part_whose_guard_holds_for_one_item_only_is_still_built() -> None:
    made = objects("a: {$if: book.pages > 400, b: {c: '{{ shelf.name }}'}}")
    assert [entry["spec"] for entry in made] == [{"a": {"b": {"c": "north"}}}, {}, {}]


def test_a_guard_of_the_outer_loop_is_evaluated_once_for_each_of_its_items() -> None:
    counted: list[str] = []

    class CountedShelf(Shelf):
        @property
        def is_open(self) -> bool:
            counted.append(self.name)
            return True

    from grove_compiler.engine.codegen.build import build
    from grove_compiler.engine.sources import Vocabulary

    from .bookshop import sources

    rules = CARD_RULE + "when: shelf.is_open\n"
    made = build(sources(rules, {"card": CARD}), Vocabulary({"shelves": list[CountedShelf]}))
    made.generate({"shelves": [CountedShelf("a", [Book("x"), Book("z"), Book("w")])]}, 9)
    assert counted == ["a"]


def test_generating_changes_no_input() -> None:
    scope = shop()
    before = repr(scope)
    patch = BOX_RULE + "---\nrule: box/mark\ndoc: A mark.\npatch: Box\ndo: [{op: add, path: /spec/shop/mark, value: 1}]\n"
    program(patch, box=BOX + "spec: {shop: '{{ shop }}'}").generate(scope, 9)
    assert repr(scope) == before


def test_a_part_is_shared_though_a_later_rule_uses_the_same_template() -> None:
    other = CARD_RULE.replace("card/book", "card/other")
    made = program([CARD_RULE, other], card=CARD + "spec: {a: 1}").generate(shop(), 9)
    assert [node.object["spec"] for node in made] == [{"a": 1}] * 6


def test_names_of_loops_do_not_leak_between_rules() -> None:
    assert mistakes([CARD_RULE, BOX_RULE], card=CARD, box=BOX + "spec: {a: '{{ book.title }}'}")[0].nearest == ""
