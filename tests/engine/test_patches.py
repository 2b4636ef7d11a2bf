"""Patch rules: which objects they change, what they see, and in which order they run."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.failure import RuleFailure
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, mistakes, program, shop


def patch(do: str, of: str = "Card", keys: str = "", id: str = "patch/a") -> str:
    return f"rule: {id}\ndoc: A.\npatch: {of}\n{keys}do: {do}\n"


def specs(*patches: str, body: str = "spec: {a: 1}") -> list[Any]:
    """The `spec` of each card after the patches."""
    made = program([CARD_RULE, BOX_RULE, *patches], card=CARD + body, box=BOX).generate(shop(), 100)
    return [node.object.get("spec") for node in made if node.object["kind"] == "Card"]


OPERATIONS = {
    "add": ("[{op: add, path: /spec/b, value: 2}]", {"a": 1, "b": 2}),
    "replace": ("[{op: replace, path: /spec/a, value: 2}]", {"a": 2}),
    "remove": ("[{op: remove, path: /spec/a}]", {}),
    "test": ("[{op: test, path: /spec/a, value: 1}]", {"a": 1}),
    "merge": ("[{op: merge, path: /spec, value: {b: {c: 2}}}]", {"a": 1, "b": {"c": 2}}),
    "several": ("[{op: add, path: /spec/b, value: 2}, {op: remove, path: /spec/a}]", {"b": 2}),
    "a value that is an expression": ("[{op: add, path: /spec/b, value: '{{ book.pages }}'}]", {"a": 1, "b": 474}),
    "a value with template keys": ("[{op: add, path: /spec/b, value: [{$for: w in book.words, $value: '{{ w }}'}]}]", None),
    "a value that is omit": ("[{op: add, path: /spec/b, value: '{{ book.former_title or omit }}'}]", {"a": 1}),
    "a value that is a guarded map": ("[{op: add, path: /spec/b, value: {$if: book.former_title, c: 1}}]", {"a": 1}),
    "a path that is an expression": ("[{op: add, path: '/spec/{{ book.slug }}', value: 2}]", {"a": 1, "emma": 2}),
    "a key with a slash": ("[{op: add, path: /spec/x~1b, value: 2}]", {"a": 1, "x/b": 2}),
    "missing parents": ("[{op: add, path: /spec/b/c/-, value: 2}]", {"a": 1, "b": {"c": [2]}}),
    "the object so far": ("[{op: add, path: /spec/b, value: '{{ object.spec.a + 1 }}'}]", {"a": 1, "b": 2}),
    "the object after the former operation": (
        "[{op: add, path: /spec/b, value: 5}, {op: add, path: /spec/c, value: '{{ object.spec.b + 1 }}'}]",
        {"a": 1, "b": 5, "c": 6},
    ),
    "a loop of an operation": (
        "[{forEach: {w: book.words | unique}, op: add, path: '/spec/{{ w }}', value: '{{ w }}!'}]",
        {"a": 1, "wit": "wit!", "love": "love!"},
    ),
    "nested loops of an operation": (
        "[{forEach: {i: range(2), j: range(i + 1)}, op: add, path: /spec/b/-, value: '{{ i }}{{ j }}'}]",
        {"a": 1, "b": ["00", "10", "11"]},
    ),
    "a condition of an operation": (
        "[{when: book.pages > 500, op: add, path: /spec/b, value: 2}, {when: [true, book.pages < 500], op: add, path: /spec/c, value: 2}]",
        {"a": 1, "c": 2},
    ),
    "a condition inside the loop of an operation": (
        "[{forEach: {w: book.words}, when: w != 'wit', op: add, path: /spec/b/-, value: '{{ w }}'}]",
        {"a": 1, "b": ["love"]},
    ),
    "a condition on the object": ("[{when: object.spec.a == 1, op: add, path: /spec/b, value: 2}]", {"a": 1, "b": 2}),
}
OPERATIONS["a value with template keys"] = (OPERATIONS["a value with template keys"][0], {"a": 1, "b": ["wit", "love", "wit"]})


@rows(("do", "expected"), OPERATIONS.values(), ids=OPERATIONS.keys())
def test_an_operation_changes_the_object(do: str, expected: Any) -> None:
    assert specs(patch(do))[0] == expected


CHOICES = {
    "a kind": ("Card", [True, True, True]),
    "another kind": ("Box", [False, False, False]),
    "several kinds": ("[Box, Card]", [True, True, True]),
    "a rule": ("card/book", [True, True, True]),
    "another rule": ("box/shelf", [False, False, False]),
    "a topic": ("card/*", [True, True, True]),
}


@rows(("of", "changed"), CHOICES.values(), ids=CHOICES.keys())
def test_a_patch_changes_the_objects_that_it_names(of: str, changed: list[bool]) -> None:
    made = specs(patch("[{op: add, path: /spec/b, value: '{{ shelf.name }}'}]", of))
    assert ["b" in spec for spec in made] == changed


KEYS = {
    "when: book.pages > 400\n": [True, False, False],
    "when: [book.author, book.author.country]\n": [True, False, False],
    "when: object.spec.a == 2\n": [False, False, False],
    "when: shop.name == 'Corner'\n": [True, True, True],
    "let: {long: book.pages > 200}\nwhen: long\n": [True, False, True],
    "forEach: {i: 'range(2)'}\n": [True, True, True],
    "forEach: {w: book.words}\n": [True, False, False],
}


@rows(("keys", "changed"), KEYS.items())
def test_a_patch_changes_objects_for_which_its_conditions_hold(keys: str, changed: list[bool]) -> None:
    assert ["b" in spec for spec in specs(patch("[{op: add, path: /spec/b, value: 2}]", keys=keys))] == changed


def test_a_loop_of_a_patch_repeats_all_its_operations() -> None:
    do = "[{op: add, path: /spec/b/-, value: '{{ i }}'}, {op: add, path: /spec/c/-, value: '{{ i }}'}]"
    assert specs(patch(do, keys="forEach: {i: range(2)}\n"))[0] == {"a": 1, "b": [0, 1], "c": [0, 1]}


def test_patches_run_in_the_order_in_which_they_are_written() -> None:
    first = patch("[{op: add, path: /spec/b/-, value: 1}]")
    second = patch("[{op: add, path: /spec/b/-, value: '{{ object.spec.b | length + 1 }}'}]", id="patch/b")
    assert specs(first, second)[0]["b"] == [1, 2]


NAMES_APART = {
    "names of two patches": (
        patch("[{op: add, path: /spec/b, value: '{{ x }}'}]", keys="let: {x: 1}\n"),
        patch("[{op: add, path: /spec/c, value: '{{ x }}'}]", keys="let: {x: 2}\n", id="patch/b"),
        {"a": 1, "b": 1, "c": 2},
    ),
    "a name that hides one of the rule": (
        patch("[{op: add, path: /spec/b, value: '{{ shelf }}'}]", keys="let: {shelf: 1}\n"),
        patch("[{op: add, path: /spec/c, value: '{{ shelf.name }}'}]", id="patch/b"),
        {"a": 1, "b": 1, "c": "north"},
    ),
    "a loop that hides one of the rule": (
        patch("[{op: add, path: /spec/b/-, value: '{{ shelf }}'}]", keys="forEach: {shelf: 'range(2)'}\n"),
        patch("[{op: add, path: /spec/c, value: '{{ shelf.name }}'}]", id="patch/b"),
        {"a": 1, "b": [0, 1], "c": "north"},
    ),
}


@pytest.mark.parametrize(("first", "second", "expected"), NAMES_APART.values(), ids=NAMES_APART.keys())
def test_a_patch_s_names_are_its_own(first: str, second: str, expected: Any) -> None:
    assert specs(first, second)[0] == expected


def test_a_patch_may_change_the_name_of_an_object() -> None:
    made = program([CARD_RULE, patch("[{op: replace, path: /metadata/name, value: other}]")], card=CARD).generate(shop(), 9)
    assert {node.id for node in made} == {"Card/other"}


FAILING = {
    "an operation that cannot be done": "\n- {op: test, path: /spec/a, value: 1}\n- {op: replace, path: /spec/b, value: 1} # here",
    "a value": "\n- {op: test, path: /spec/a, value: 1}\n- op: add\n  path: /spec/b\n  value: '{{ book.pages + book.anything }}' # here",
    "a path": "\n- op: add\n  path: '{{ book.title }}' # here\n  value: 1",
    "a condition": "\n- op: add\n  when: book.pages + book.anything # here\n  path: /spec/b\n  value: 1",
    "a loop": "\n- op: add\n  path: /spec/b\n  forEach:\n    w: shop.name # here\n  value: 1",
}


@pytest.mark.parametrize("do", FAILING.values(), ids=FAILING.keys())
def test_a_patch_that_fails_names_its_own_line(do: str) -> None:
    rules = "\n---\n".join([CARD_RULE, patch(do)])
    with pytest.raises(RuleFailure) as caught:
        program(rules, card=CARD + "spec: {a: 1}").generate(shop(), 9)
    assert rules.split("\n")[caught.value.diagnostic.line - 1].endswith("# here")


MISTAKES = {
    "a name": ("[{op: add, path: /a, value: '{{ bok }}'}]", "unknown name 'bok'", "book"),
    "a name in a path": ("[{op: add, path: '/{{ bok }}', value: 1}]", "unknown name 'bok'", "book"),
    "a name in a loop": ("[{op: add, forEach: {x: bok}, path: /a, value: 1}]", "unknown name 'bok'", "book"),
    "a name in a condition": ("[{op: add, when: bok, path: /a, value: 1}]", "unknown name 'bok'", "book"),
    "a path that is omit": ("[{op: add, path: '{{ book.former_title or omit }}', value: 1}]", "`omit` cannot be a path", ""),
    "a path that may be omit": ("[{op: add, path: '/{{ book.former_title or omit }}', value: 1}]", "`omit` can be", ""),
    "a template key": ("[{op: add, path: /a, value: {$fi: 1}}]", "unknown template key '$fi'", "$if"),
    "an owner, which patches do not see": ("[{op: add, path: /a, value: '{{ w }}'}]", "unknown name 'w'", ""),
}


@rows(("do", "said", "nearest"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_patch_that_is_wrong_is_reported_with_its_line(do: str, said: str, nearest: str) -> None:
    (found,) = mistakes([CARD_RULE, patch(do)], card=CARD)
    assert (said in found.message, found.nearest, found.line) == (True, nearest, 11), found


def test_a_name_that_only_some_objects_have_is_reported_with_the_rule_that_lacks_it() -> None:
    (found,) = mistakes([BOX_RULE, CARD_RULE, patch("[{op: remove, path: /a}]", "[Box, Card]", "when: book\n")], box=BOX, card=CARD)
    assert "(in objects of the rule 'box/shelf')" in found.message
