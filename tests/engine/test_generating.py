"""Generated objects: loops, names, owners, policies, limits and the order in which objects come."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import TooManyObjects
from grove_compiler.graph.graph import CompiledGraph
from tests.graph.dependencies import with_dependencies
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, Shelf, mistakes, nodes, program, shop


def ids(rule: str, template: str = CARD, scope: dict[str, Any] | None = None) -> list[str]:
    return [node.id for node in program(rule, card=template, box=BOX).generate(scope or shop(), 100)]


def test_there_is_an_object_for_each_item_of_nested_loops() -> None:
    assert ids(CARD_RULE) == ["Card/north-emma", "Card/north-faust", "Card/south-walden-pond"]


def test_a_rule_without_loops_makes_one_object() -> None:
    assert ids("rule: a\ndoc: A.\ngenerate: card.yaml\nlet: {shelf: 'shelves[0]', book: 'shelves[0].books[0]'}") == ["Card/north-emma"]


def test_a_node_knows_its_rule_and_its_position_in_the_loops() -> None:
    assert [(node.rule, node.loop) for node in nodes("a: 1")] == [("card/book", (0, 0)), ("card/book", (0, 1)), ("card/book", (1, 0))]


def test_positions_count_items_that_conditions_leave_out() -> None:
    assert [node.loop for node in nodes("a: 1", rule="when: book.pages < 400\n")] == [(0, 1), (1, 0)]


def test_a_position_may_be_put_in_front() -> None:
    made = program(CARD_RULE, card=CARD).generate(shop(), 100, position=(7,))
    assert [node.loop for node in made] == [(7, 0, 0), (7, 0, 1), (7, 1, 0)]


GUARDED = {
    "when: true": 3,
    "when: false": 0,
    "when: 0": 0,
    "when: book.author": 2,
    "when: [book.author, book.author.country]": 1,
    "when: shelf.name == 'north'": 2,
    "when: shop.name == 'Corner'": 3,
    "when: shop.nothing": 0,
    "let: {long: book.pages > 200}\nwhen: long": 2,
}


@rows(("keys", "count"), GUARDED.items())
def test_an_object_is_made_when_all_conditions_hold(keys: str, count: int) -> None:
    assert len(ids(CARD_RULE + keys)) == count


NAMES = {
    "with: {label: book.title}": "{{ label }}",
    "let: {label: book.title}": "{{ label }}",
    "let: {label: other, other: book.title}": "{{ label }}",
    "let: {other: book.title}\nwith: {label: other}": "{{ label }}",
    "with: {book: book}": "{{ book.title }}",
    "with: {other: book}": "{{ other.title }}",
    "let: {best: 'shelf.books[0]'}": "{{ best.title }}",
    "let: {label: 'shout(book.title)[:-1]'}": "{{ label }}",
}


@rows(("keys", "text"), NAMES.items())
def test_a_template_sees_the_names_of_its_rule(keys: str, text: str) -> None:
    assert nodes(f"a: '{text}'", rule=keys + "\n")[0].object["spec"]["a"] == "Emma"


def test_a_name_that_hides_a_loop_holds_for_its_item_only() -> None:
    template = CARD.replace("{{ shelf.name }}-{{ book.slug }}", "{{ shelf }}")
    assert ids(CARD_RULE + "let: {shelf: shelf.name ~ book.title}", template) == [
        "Card/northEmma",
        "Card/northFaust",
        "Card/southWalden Pond",
    ]


def test_a_name_of_an_outer_loop_that_a_later_loop_needs_cannot_be_taken_by_it() -> None:
    (found,) = mistakes(CARD_RULE + "let: {book: 'shelf.books[0]'}", card=CARD)
    assert found.message == "the loop's name 'book' hides a name that is already in use"


def test_a_loop_over_none_makes_nothing() -> None:
    assert ids(CARD_RULE.replace("shelf.books", "shop.nothing")) == []


@pytest.mark.parametrize("names", ["{a: b, b: a}", "{a: a}", "{a: b, b: c, c: a}"])
def test_names_that_need_each_other_are_reported(names: str) -> None:
    found = mistakes(CARD_RULE + f"let: {names}", card=CARD)
    assert (bool(found), all("unknown name" in finding.message for finding in found)) == (True, True)


def test_a_name_that_cannot_be_evaluated_is_reported_once_though_it_is_used() -> None:
    assert len(mistakes(CARD_RULE + "let: {a: bok}", card=CARD + "spec: {a: '{{ a }}', b: '{{ a.b }}'}")) == 1


# -- owners ------------------------------------------------------------------------------------------------------------------------


def test_an_owner_becomes_the_node_s_owner_and_an_owner_reference() -> None:
    node = nodes("a: 1", rule="owner: shelf.ref\n")[0]
    reference = {"apiVersion": "example.com/v1", "kind": "Box", "name": "north", "controller": True, "blockOwnerDeletion": True}
    assert (node.owner, node.object["metadata"]["ownerReferences"]) == (Shelf("north").ref, [reference])


def test_an_owner_with_a_uid_is_referred_to_with_it() -> None:
    scope = shop()
    scope["shelves"][0].books[0].anything = scope["shelves"][0].ref._replace(uid="u-1")
    node = nodes("a: 1", scope, rule="owner: book.anything\n")[0]
    assert list(node.object["metadata"]["ownerReferences"][0].items())[:4] == [
        ("apiVersion", "example.com/v1"),
        ("kind", "Box"),
        ("name", "north"),
        ("uid", "u-1"),
    ]


def test_an_object_without_owner_has_no_owner_references() -> None:
    assert "ownerReferences" not in nodes("a: 1")[0].object["metadata"]


def test_an_owner_that_is_none_leaves_no_owner_references() -> None:
    node = nodes("a: 1", rule="owner: book.anything\n")[0]
    assert (node.owner, "ownerReferences" in node.object["metadata"]) == (None, False)


# -- policies, limits, failures ----------------------------------------------------------------------------------------------------

POLICIES: dict[str, Any] = {
    "{}": {},
    "{create: only}": {"create": "only"},
    "{adopt: true}": {"adopt": True},
    "{operator: true}": {"operator": True},
    "{recreate: true}": {"recreate": True},
    "{yield: /spec/replicas}": {"yield": "/spec/replicas"},
    "{yield: [/spec/replicas, /spec/x]}": {"yield": ["/spec/replicas", "/spec/x"]},
}


@rows(("text", "policy"), POLICIES.items())
def test_a_node_carries_the_policy_of_its_rule(text: str, policy: Any) -> None:
    assert nodes("a: 1", rule=f"policy: {text}\n")[0].policy == policy


def test_fields_are_left_to_others_only_where_the_rule_says_so() -> None:
    policy = "policy: {create: only, yield: /spec/replicas, yieldWhen: book.pages > 200}\n"
    policies = {node.object["metadata"]["name"]: node.policy for node in nodes("a: 1", rule=policy)}
    left, kept = {"create": "only", "yield": "/spec/replicas"}, {"create": "only"}
    assert policies == {"north-emma": left, "north-faust": kept, "south-walden-pond": left}


def test_a_condition_of_a_policy_is_read_before_it_is_used() -> None:
    [told] = mistakes(CARD_RULE + "policy: {yield: /spec/replicas, yieldWhen: book.leafs}\n", card=CARD)
    assert (told.path, told.message) == ("policy.yieldWhen", "Book has no attribute 'leafs'")


def test_a_rule_without_policy_has_an_empty_one() -> None:
    assert nodes("a: 1")[0].policy == {}


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_more_objects_than_the_limit_are_an_error(limit: int) -> None:
    with pytest.raises(TooManyObjects, match=f"more than {limit} objects"):
        program(CARD_RULE, card=CARD).generate(shop(), limit)


def test_as_many_objects_as_the_limit_are_made() -> None:
    assert len(program(CARD_RULE, card=CARD).generate(shop(), 3)) == 3


FAILING = {
    "a value": ("", "a: 1\nb: '{{ book.pages // book.title }}'", "templates/card.yaml", 7),
    "a value deep inside": ("", "a:\n  b:\n  - c: '{{ book.pages // book.title }}'", "templates/card.yaml", 8),
    "a shared part": ("", "a:\n  b: 1\n  c: '{{ shelf.name // 1 }}'", "templates/card.yaml", 8),
    "a loop": ("", "a:\n- $for: x in shop.name\n  b: 1", "templates/card.yaml", 7),
    "a guard of an item": ("", "a:\n- $if: book.pages // book.title\n  b: 1", "templates/card.yaml", 7),
    "a merge": ("", "a: 1\n$merge: book.title", "templates/card.yaml", 7),
    "a name of the template": ("", "a:\n  $let:\n    x: book.pages // book.title\n  b: '{{ x }}'", "templates/card.yaml", 8),
    "a key": ("", "a: 1\n'{{ book.former_title }}': 1", "templates/card.yaml", 7),
    "a key of a map": ("", "a: 1\n'{{ book.former_title }}':\n  b: '{{ book.title }}'", "templates/card.yaml", 7),
    "a key beside what is omitted": ("", "a: '{{ omit }}'\n'{{ book.former_title }}':\n  b: '{{ book.title }}'", "templates/card.yaml", 7),
    "a guard of the rule": ("when: book.pages // book.title\n", "a: 1", "rules/shop.yaml", 6),
    "one of several guards": ("when:\n- true\n- book.pages // book.title\n", "a: 1", "rules/shop.yaml", 8),
    "a name of the rule": ("let:\n  x: 1\n  b: book.pages // book.title\n", "a: 1", "rules/shop.yaml", 8),
    "an owner": ("owner: book.pages // book.title\n", "a: 1", "rules/shop.yaml", 6),
    "an attribute filter": ("", "a: 1\nb: \"{{ shelf.books | map(attribute='anything.x') }}\"", "templates/card.yaml", 7),
}


@rows(("keys", "body", "file", "line"), FAILING.values(), ids=FAILING.keys())
def test_a_rule_that_fails_names_the_file_and_line(keys: str, body: str, file: str, line: int) -> None:
    scope = shop()
    for book in scope["shelves"][0].books:
        book.anything = 5
    with pytest.raises(RuleFailure) as caught:
        nodes(body, scope, keys)
    assert (caught.value.diagnostic.file, caught.value.diagnostic.line) == (file, line)


def test_a_failure_names_its_rule_and_says_what_happened() -> None:
    with pytest.raises(RuleFailure) as caught:
        nodes("a: '{{ book.pages // book.title }}'")
    assert caught.value.diagnostic.message.startswith("the rule 'card/book' failed: TypeError: unsupported operand")


def test_a_name_that_is_none_is_a_failure() -> None:
    with pytest.raises(RuleFailure, match="none cannot stand inside text"):
        program(CARD_RULE, card=CARD.replace("{{ book.slug }}", "{{ book.former_title }}")).generate(shop(), 9)


# -- order -------------------------------------------------------------------------------------------------------------------------


def test_rules_run_after_those_that_come_first() -> None:
    rules = [CARD_RULE + "after: [box/shelf]\n", BOX_RULE]
    assert [rule.id for rule in program(rules, box=BOX, card=CARD).rules] == ["box/shelf", "card/book"]


def test_rules_without_order_run_as_they_are_written() -> None:
    rules = [CARD_RULE.replace("card/book", f"card/b{number}") for number in (3, 1, 2)]
    assert [rule.id for rule in program(rules, card=CARD).rules] == ["card/b3", "card/b1", "card/b2"]


def waits(keys: str, box_loops: str = "{shelf: shelves}", card_loops: str = "{shelf: shelves, book: shelf.books}") -> list[tuple[str, str]]:
    """Pairs of a card and a box that comes before it."""
    box = BOX_RULE.replace("{shelf: shelves}", box_loops)
    card = CARD_RULE.replace("{shelf: shelves, book: shelf.books}", card_loops) + keys
    made = program([box, card], box=BOX, card=CARD)
    graph = CompiledGraph(made.generate(shop(), 100), {rule.id: rule.after for rule in made.rules})
    pairs = ((node, before) for node, dependencies in with_dependencies(graph) for before in dependencies)
    return [(node.object["metadata"]["name"], before.object["metadata"]["name"]) for node, before in pairs]


def test_objects_wait_for_those_of_the_same_item_of_loops_that_both_share() -> None:
    assert waits("after: [box/shelf]\n") == [("north-emma", "north"), ("north-faust", "north"), ("south-walden-pond", "south")]


def test_loops_are_the_same_when_their_expressions_are_but_for_spaces() -> None:
    assert len(waits("after: [box/shelf]\n", card_loops="{shelf: '  shelves ', book: shelf.books}")) == 3


def test_objects_wait_for_all_when_the_loops_differ_in_name() -> None:
    assert len(waits("after: [box/shelf]\nlet: {shelf: s}\n", card_loops="{s: shelves, book: s.books}")) == 6


def test_objects_wait_for_all_when_the_loops_differ_in_what_they_run_over() -> None:
    assert len(waits("after: [box/shelf]\n", card_loops="{shelf: shelves | list, book: shelf.books}")) == 6


def test_a_whole_topic_may_come_first() -> None:
    assert len(waits("after: [box/*]\n")) == 3


def test_a_rule_of_the_same_topic_may_name_the_topic() -> None:
    rules = [CARD_RULE + "after: [card/*]\n", CARD_RULE.replace("card/book", "card/first")]
    assert [rule.id for rule in program(rules, card=CARD).rules] == ["card/first", "card/book"]


def test_an_owner_comes_before_what_it_owns() -> None:
    assert waits("owner: shelf.ref\n") == [("north-emma", "north"), ("north-faust", "north"), ("south-walden-pond", "south")]


AFTER = {
    "after: [box/shelv]": ("no rule that generates objects is called 'box/shelv'", "box/shelf"),
    "after: [bxo/*]": ("no rule that generates objects is called 'bxo/*'", ""),
    "after: [card/book]": ("a rule cannot come after itself", ""),
    "after: [check]": ("no rule that generates objects is called 'check'", ""),
}
CHECK = "rule: check\ndoc: A.\nvalidate: create\nassert: true\npath: a\nmessage: b\n"


@pytest.mark.parametrize(("keys", "said"), AFTER.items())
def test_an_order_that_means_nothing_is_reported(keys: str, said: tuple[str, str]) -> None:
    (found,) = mistakes([BOX_RULE, CARD_RULE + keys, CHECK], box=BOX, card=CARD)
    assert (found.message, found.nearest, found.line) == (*said, 13)


CYCLES = {
    "two": ({"a": "b", "b": "a"}, "a after b after a"),
    "three": ({"a": "b", "b": "c", "c": "a"}, "a after b after c after a"),
    "behind another": ({"d": "a", "a": "b", "b": "a"}, "a after b after a"),
}


@pytest.mark.parametrize(("after", "path"), CYCLES.values(), ids=CYCLES.keys())
def test_rules_that_wait_for_each_other_are_reported_with_their_path(after: dict[str, str], path: str) -> None:
    rules = [CARD_RULE.replace("card/book", id) + f"after: [{other}]\n" for id, other in after.items()]
    (found,) = mistakes(rules, card=CARD)
    assert found.message == f"rules that wait for each other: {path}"
