"""Templates: what each template key does, and which types values keep."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.failure import RuleFailure
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, Shelf, mistakes, objects, program, rendered, shop

RENDERED: dict[str, tuple[str, Any]] = {
    "a scalar that is one expression keeps its type": (
        "{i: '{{ book.pages }}', l: '{{ book.words }}', m: '{{ book.tags }}', b: '{{ true }}', none: '{{ none }}', t: '{{ book.title }}'}",
        {
            "i": 474,
            "l": ["wit", "love", "wit"],
            "m": {"genre": "novel", "used": "yes"},
            "b": True,
            "none": None,
            "t": "Emma",
        },
    ),
    "text around an expression makes text": ("a: '{{ book.pages }} pages'", {"a": "474 pages"}),
    "two expressions make text": ("a: '{{ book.pages }}{{ true }}'", {"a": "474true"}),
    "literals keep their types": ("{a: 1, b: 1.5, c: true, d: null, e: '1', f: {}, g: []}", None),
    "braces of an expression": ("a: \"{{ {'b': {'c': 1}} }}\"", {"a": {"b": {"c": 1}}}),
    "braces as text": ("a: \"{{ '{{ x }}' }}\"", {"a": "{{ x }}"}),
    "keys hold expressions": ("'{{ book.slug }}-{{ book.pages }}': 1", {"emma-474": 1}),
    "a key that is one expression becomes text": ("'{{ book.pages }}': 1", {"474": 1}),
    "dollar keys from expressions": ("\"{{ '$ref' }}\": 1", {"$ref": 1}),
    "a key with ${": ("${a}: 1", {"${a}": 1}),
    "omit leaves a key out": ("{a: '{{ omit }}', b: 1}", {"b": 1}),
    "omit leaves an item out": ("a: ['{{ omit }}', 1, '{{ book.former_title or omit }}']", {"a": [1]}),
    "a name of `$let` may stand for omit": ("a: {$let: {x: book.former_title or omit}, b: '{{ x }}', c: 1}", {"a": {"c": 1}}),
    "$if drops the value of a key": ("{a: {$if: book.former_title, b: 1}, c: {$if: book.title, d: 1}}", {"c": {"d": 1}}),
    "$if drops an item": ("a: [{$if: book.former_title, b: 1}, {$if: book.title, d: 1}]", {"a": [{"d": 1}]}),
    "$if takes YAML's booleans": ("{a: {$if: false, b: 1}, c: {$if: true, d: 1}}", {"c": {"d": 1}}),
    "$if in a map that is merged": ("a: {$if: book.title, $merge: book.tags}", {"a": {"genre": "novel", "used": "yes"}}),
    "$for repeats an item": ("a: [{$for: w in book.words, word: '{{ w }}'}]", {"a": [{"word": "wit"}, {"word": "love"}, {"word": "wit"}]}),
    "$for between others": ("a: [0, {$for: w in book.words, $value: '{{ w }}'}, 1]", {"a": [0, "wit", "love", "wit", 1]}),
    "$for with $if": ("a: [{$for: w in book.words, $if: w != 'wit', $value: '{{ w }}'}]", {"a": ["love"]}),
    "$for over none": ("a: [{$for: w in shop.nothing, b: '{{ w }}'}]", {"a": []}),
    "$for in $for": (
        "a: [{$for: 'x in [1, 2]', b: [{$for: z in range(x), $value: '{{ x }}{{ z }}'}]}]",
        {"a": [{"b": ["10"]}, {"b": ["20", "21"]}]},
    ),
    "$for twice with one name": ("a: [{$for: 'x in [1]', $value: '{{ x }}'}, {$for: 'x in [2]', $value: '{{ x }}'}]", {"a": [1, 2]}),
    "$for with spaces": ("a: [{$for: '  x   in   [1]  ', $value: '{{ x }}'}]", {"a": [1]}),
    "$for over items": (
        "a: [{$for: pair in book.tags | items, $value: '{{ pair[0] }}={{ pair[1] }}'}]",
        {"a": ["genre=novel", "used=yes"]},
    ),
    "$value without a loop": ("a: [{$value: '{{ book.pages }}'}]", {"a": [474]}),
    "$value with $if": ("a: [{$if: book.former_title, $value: 1}, {$if: book.title, $value: 2}]", {"a": [2]}),
    "$value that is omit": ("a: [{$for: 'x in [1, none]', $value: '{{ x or omit }}'}]", {"a": [1]}),
    "$value that is a map": ("a: [{$for: 'x in [1]', $value: {b: '{{ x }}'}}]", {"a": [{"b": 1}]}),
    "$value that is a list": ("a: [{$for: 'x in [1]', $value: ['{{ x }}', 2]}]", {"a": [[1, 2]]}),
    "$merge at its place": ("{a: 1, $merge: book.tags, z: 2}", {"a": 1, "genre": "novel", "used": "yes", "z": 2}),
    "$merge gives a key its last value": ("{genre: a, $merge: book.tags, used: b}", {"genre": "novel", "used": "b"}),
    "$merge of none": ("{a: 1, $merge: shop.nothing}", {"a": 1}),
    "$merge of omit": ("{a: 1, $merge: book.former_title or omit}", {"a": 1}),
    "$merge of a list of maps": ("{$merge: \"[book.tags, {'used': 'no'}, none]\"}", {"genre": "novel", "used": "no"}),
    "several $merge": ("{$merge: [book.tags, \"{'used': 'no'}\"]}", {"genre": "novel", "used": "no"}),
    "$let names a value": ("{a: {$let: {x: book.pages}, b: '{{ x + 1 }}'}}", {"a": {"b": 475}}),
    "$let sees former names": ("{a: {$let: {x: book.pages, w: x + 1}, b: '{{ w }}'}}", {"a": {"b": 475}}),
    "$let in a loop": ("a: [{$for: 'x in [1, 2]', $let: {w: x * 2}, b: '{{ w }}'}]", {"a": [{"b": 2}, {"b": 4}]}),
    "non-ASCII": ("ü: '{{ book.title }} – „é“ {{ ''日本'' }}'", {"ü": "Emma – „é“ 日本"}),
    "line breaks in text": ('a: "{{ book.title }}\\n\\nb  #@3\\n"', {"a": "Emma\n\nb  #@3\n"}),
    "lines of an expression": ("a: |-\n  {{ [\n  1,\n  2 ] }}", {"a": [1, 2]}),
}
RENDERED["literals keep their types"] = (
    RENDERED["literals keep their types"][0],
    {"a": 1, "b": 1.5, "c": True, "d": None, "e": "1", "f": {}, "g": []},
)


@rows(("body", "expected"), RENDERED.values(), ids=RENDERED.keys())
def test_a_template_renders_what_it_says(body: str, expected: Any) -> None:
    assert rendered(body) == expected


def test_keys_stand_in_the_order_in_which_they_are_written() -> None:
    made = rendered("{z: 1, $merge: book.tags, a: 2, used: again}")
    assert list(made) == ["z", "genre", "used", "a"]


INNER_NAMES = {
    "a name of `$let` ends with its map": (
        "let: {x: 1}",
        "{a: {$let: {x: 2}, b: '{{ x }}'}, c: '{{ x }}'}",
        {"a": {"b": 2}, "c": 1},
    ),
    "a name of `$let` may hide a loop's": (
        "",
        "{a: {$let: {book: 'shelf.books[1]'}, b: '{{ book.title }}'}, c: '{{ book.title }}'}",
        {"a": {"b": "Faust"}, "c": "Emma"},
    ),
    "maps side by side have names of their own": (
        "",
        "{a: {$let: {x: 1}, b: '{{ x }}'}, c: {$let: {x: 2}, b: '{{ x }}'}}",
        {"a": {"b": 1}, "c": {"b": 2}},
    ),
}


@pytest.mark.parametrize(("keys", "body", "expected"), INNER_NAMES.values(), ids=INNER_NAMES.keys())
def test_names_hold_where_they_are_bound(keys: str, body: str, expected: Any) -> None:
    assert rendered(body, rule=keys + "\n") == expected


def test_a_name_that_hides_a_loop_does_so_for_every_item_alike() -> None:
    made = objects("{a: {$let: {shelf: book}, b: '{{ shelf.title }}'}, c: '{{ shelf.name }}'}")
    assert [entry["spec"] for entry in made] == [
        {"a": {"b": "Emma"}, "c": "north"},
        {"a": {"b": "Faust"}, "c": "north"},
        {"a": {"b": "Walden Pond"}, "c": "south"},
    ]


def test_a_merge_of_something_else_fails_with_its_line() -> None:
    with pytest.raises(RuleFailure, match=r"templates/card.yaml:7: .*`\$merge` needs a map, found text"):
        rendered("a: 1\n$merge: book.title")


def test_a_loop_over_a_map_of_unknown_type_fails_with_its_line() -> None:
    scope = shop()
    scope["shelves"][0].books[0].anything = {"a": 1}
    with pytest.raises(RuleFailure, match=r"templates/card.yaml:6: .*cannot loop over a map; say `\| items` or `\| keys`"):
        rendered("a: [{$for: x in book.anything, $value: '{{ x }}'}]", scope)


MISTAKES = {
    "$for in a map": ("a: {$for: 'x in [1]'}", "`$for` has a meaning only in a list's item", ""),
    "$value in a map": ("a: {$value: 1}", "`$value` has a meaning only in a list's item", ""),
    "an unknown key": ("a: {$fi: true}", "unknown template key '$fi'", "$if"),
    "an unknown key in an item": ("a: [{$mege: book.tags}]", "unknown template key '$mege'", "$merge"),
    "$let of text": ("a: {$let: x}", "`$let` is a map", ""),
    "$let of a wrong name": ("a: {$let: {a-b: 1}}", "'a-b' cannot be a name", ""),
    "$let of a word of the language": ("a: {$let: {omit: 1}}", "'omit' cannot be a name", ""),
    "$let of a letter that Python folds": ("a: {$let: {ﬁ: 1}}", "'ﬁ' cannot be a name", ""),
    "$let of a map": ("a: {$let: {x: {}}}", "expected an expression", ""),
    "$if of a list": ("a: {$if: [a]}", "expected an expression", ""),
    "$if of nothing": ("a: {$if: }", "expected an expression", ""),
    "$if of an item": ("a: [{$for: 'x in [1]', $if: {}}]", "expected an expression", ""),
    "$merge of a map": ("a: {$merge: {b: 1}}", "expected an expression", ""),
    "$merge of a list of maps": ("a: {$merge: [{b: 1}]}", "expected an expression", ""),
    "$for without in": ("a: [{$for: book.words}]", "`$for` reads `name in expression`", ""),
    "$for of a number": ("a: [{$for: 5}]", "`$for` reads `name in expression`", ""),
    "$for of a list": ("a: [{$for: [x in a]}]", "`$for` reads `name in expression`", ""),
    "$for of two names": ("a: [{$for: 'k, v in book.tags'}]", "`$for` reads `name in expression`", ""),
    "$for of a reserved name": ("a: [{$for: not in book.tags}]", "`$for` reads `name in expression`", ""),
    "$for of a hiding name": ("a: [{$for: 'book in [1]', b: 1}]", "the loop's name 'book' hides a name", ""),
    "$for over text": ("a: [{$for: x in book.title, b: 1}]", "cannot loop over `book.title`", ""),
    "$for over a model": ("a: [{$for: x in book, b: 1}]", "cannot loop over `book`", ""),
    "$for over a map": ("a: [{$for: x in book.tags, b: 1}]", "cannot loop over `book.tags`", ""),
    "$for over omit": ("a: [{$for: x in shop.list or omit, b: 1}]", "`omit` can be what a whole expression gives", ""),
    "$value beside keys": ("a: [{$value: 1, b: 2}]", "an item with `$value` has no other keys", ""),
    "$value beside $let": ("a: [{$value: 1, $let: {x: 1}}]", "an item with `$value` has no other keys", ""),
    "a key that is omit": ("'{{ omit }}': 1", "`omit`", ""),
}


@rows(("body", "said", "nearest"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_template_that_is_wrong_is_found_with_its_line(body: str, said: str, nearest: str) -> None:
    (found,) = mistakes(CARD_RULE, card=CARD + "spec:\n  " + body)
    assert (said in found.message, found.nearest, found.place) == (True, nearest, "templates/card.yaml:6"), found.message


ROOTS = {
    "": "a template file holds one document; this one is empty",
    "# nothing": "a template file holds one document; this one is empty",
    "[]": "expected a map",
    "text": "expected a map",
    "null": "a template file holds one document; this one is empty",
    "kind: A\nmetadata: {name: a}": "a template needs `apiVersion`",
    "apiVersion: v1\nmetadata: {name: a}": "a template needs `kind`",
    "apiVersion: v1\nkind: A": "a template needs `metadata`",
    "{apiVersion: v1, kind: A, metadata: {}}": "a template needs `metadata.name`",
    "{apiVersion: v1, kind: A, metadata: []}": "`metadata` must be a map",
    "{apiVersion: v1, kind: A, metadata: '{{ shop }}'}": "`metadata` must be a map",
    "{apiVersion: v1, kind: A, metadata: {name: a}, $if: true}": "a template is not left out by `$if`; say `when` in the rule",
    "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{}": "a template file holds one document",
}


@rows(("text", "said"), ROOTS.items())
def test_a_template_makes_one_object_with_a_name(text: str, said: str) -> None:
    assert said in [finding.message for finding in mistakes(BOX_RULE, box=text)]


def test_a_merge_may_bring_what_a_template_needs() -> None:
    text = "$merge: \"{'apiVersion': 'v1', 'kind': 'A'}\"\nmetadata: {$merge: \"{'name': shelf.name}\"}"
    assert [node.id for node in program(BOX_RULE, box=text).generate(shop(), 9)] == ["A/north", "A/south"]


def test_a_template_may_be_used_by_several_rules() -> None:
    other = BOX_RULE.replace("box/shelf", "box/other").replace("{shelf: shelves}", "{shelf: 'shelves[:1]'}")
    assert [node.rule for node in program([BOX_RULE, other], box=BOX).generate(shop(), 9)] == ["box/shelf", "box/shelf", "box/other"]


def test_a_namespace_is_part_of_the_id() -> None:
    template = BOX.replace('{name: "{{ shelf.name }}"}', '{name: "{{ shelf.name }}", namespace: "{{ shop.name }}"}')
    (node,) = program(BOX_RULE, box=template).generate({"shelves": [Shelf("a")], "shop": {"name": "b"}}, 9)
    assert node.id == "Box/b/a"
