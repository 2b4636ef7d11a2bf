"""Where each field of an object comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grove_compiler.engine.sources import InvalidRules
from grove_compiler.engine.tracing.provenance import FieldOrigin, Tracer, traced_rules
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node
from tests.suite.rows import rows

from .bookshop import CARD, CARD_RULE, VOCABULARY, program, shop, sources

BODY = """
spec:
  fixed: {a: 1, b: [x, z]}
  text: "{{ book.title }} has {{ book.pages }} pages"
  shared: {name: "{{ shelf.name }}", titles: "{{ shelf.titles }}"}
  none: "{{ book.former_title }}"
  empty: {}
  left: "{{ book.former_title or omit }}"
  guarded: {$if: book.author, name: "{{ book.author.name }}"}
  named: {$let: {w: book.words}, words: "{{ w }}", count: "{{ w | length }}"}
  merged:
    $merge: book.tags
    $let: {more: "[book.tags, {'x': {'z': 1}}, none]"}
    used: no
  lists: {$merge: "[book.tags, {'x': {'z': none}}, none]"}
  nothing: {a: 1, $merge: shop.nothing}
  items:
  - 5
  - $for: word in book.words
    $if: word != 'love'
    word: "{{ word }}"
  - {$for: word in book.words, $value: "{{ word }}"}
  "{{ book.slug }}": 1
  known: "{{ shop }}"
  open: null
"""

PATCH = """
rule: patch/card
doc: A.
patch: Card
let: {mark: book.slug}
do:
- {op: add, path: /metadata/labels/mark, value: "{{ mark }}"}
- {op: add, path: /spec/known/inner/deep, value: 5}
- {op: add, path: /spec/open/inner, value: 6}
- {op: replace, path: /spec/fixed/b/0, value: new}
- {op: add, path: /spec/fixed/b/-, value: {c: last}}
- {op: remove, path: /spec/fixed/a}
- {op: remove, path: /spec/nowhere/at/all}
- {op: merge, path: /spec/merged, value: {genre: null, own: {part: 7}}}
- {op: merge, path: /spec/known, value: "{{ {'name': none, 'second': {'x': 1}} }}"}
- {op: test, path: /spec/shared/name, value: "{{ shelf.name }}"}
- forEach: {word: book.words}
  when: object.spec.guarded.name == 'Austen'
  op: add
  path: /spec/words/-
  value: "{{ word }} {{ object.spec.fixed.b | length }}"
"""

RULES = [CARD_RULE.strip() + "\nowner: shelf.ref\n", PATCH.strip()]
TEMPLATES = {"card": CARD.strip() + BODY}


def traced(scope: dict[str, Any] | None = None, number: int = 0) -> tuple[Any, dict[FieldPath, FieldOrigin]]:
    """An object as it was generated, and the origins of its fields."""
    scope = scope or shop()
    node = program(RULES, **TEMPLATES).generate(scope, 100)[number]
    return node.object, origins_of(Tracer(traced_rules(sources(RULES, TEMPLATES), VOCABULARY), VOCABULARY), node, scope)


def origins_of(tracer: Tracer, node: Node, scope: dict[str, Any], position: int = 0) -> dict[FieldPath, FieldOrigin]:
    return {path: field.origin for path, field in tracer.trace(node, scope, position).fields.items()}


def scalars(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths of everything that is no container, or an empty one."""
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(part, (*path, key))
    elif not isinstance(value, dict | list):
        yield path


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_scalar_of_an_object_has_an_origin(number: int) -> None:
    made, origins = traced(number=number)
    assert [path for path in scalars(made) if path not in origins] == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_nothing_else_has_an_origin_but_empty_containers(number: int) -> None:
    made, origins = traced(number=number)
    found = set(scalars(made))
    assert [path for path in origins if path not in found and value_at(made, path) not in ({}, [])] == []


def value_at(value: Any, path: FieldPath) -> Any:
    for step in path:
        value = value[step]
    return value


LINES: dict[FieldPath, tuple[str, str]] = {
    ("kind",): ("kind: Card", ""),
    ("metadata", "name"): ("metadata:", "{{ shelf.name }}-{{ book.slug }}"),
    ("metadata", "ownerReferences", 0, "name"): ("owner: shelf.ref", "shelf.ref"),
    ("metadata", "labels", "mark"): ("path: /metadata/labels/mark", "{{ mark }}"),
    ("spec", "text"): ("  text:", "{{ book.title }} has {{ book.pages }} pages"),
    ("spec", "shared", "titles", 1): ("  shared:", "{{ shelf.titles }}"),
    ("spec", "none"): ("  none:", "{{ book.former_title }}"),
    ("spec", "guarded", "name"): ("  guarded:", "{{ book.author.name }}"),
    ("spec", "named", "count"): ("  named:", "{{ w | length }}"),
    ("spec", "merged", "used"): ("    used: no", ""),
    ("spec", "merged", "own", "part"): ("path: /spec/merged", ""),
    ("spec", "lists", "x", "z"): ("  lists:", "[book.tags, {'x': {'z': none}}, none]"),
    ("spec", "nothing", "a"): ("  nothing:", ""),
    ("spec", "items", 0): ("  - 5", ""),
    ("spec", "items", 2, "word"): ("    word:", "{{ word }}"),
    ("spec", "items", 3): ("  - {$for: word", "{{ word }}"),
    ("spec", "emma"): ('  "{{ book.slug }}": 1', ""),
    ("spec", "known", "inner", "deep"): ("path: /spec/known/inner/deep", ""),
    ("spec", "known", "second", "x"): ("path: /spec/known, value", "{{ {'name': none, 'second': {'x': 1}} }}"),
    ("spec", "open", "inner"): ("path: /spec/open/inner", ""),
    ("spec", "fixed", "b", 0): ("path: /spec/fixed/b/0", ""),
    ("spec", "fixed", "b", 1): ("  fixed:", ""),
    ("spec", "fixed", "b", 2, "c"): ("path: /spec/fixed/b/-", ""),
    ("spec", "words", 1): ('  value: "{{ word }}', "{{ word }} {{ object.spec.fixed.b | length }}"),
}


@rows(("path", "said"), LINES.items(), ids=[str(path) for path in LINES])
def test_an_origin_names_the_line_and_the_expression(path: FieldPath, said: tuple[str, str]) -> None:
    origin = traced()[1][path]
    text = {source.file: source.text for source in sources(RULES, TEMPLATES)}[origin.file]
    assert (said[0] in text.split("\n")[origin.line - 1], origin.expression) == (True, said[1])


def test_a_tracer_sees_the_same_object_as_the_program() -> None:
    seen = {}
    tracer = Tracer(traced_rules(sources(RULES, TEMPLATES), VOCABULARY), VOCABULARY)
    for node in program(RULES, **TEMPLATES).generate(shop(), 100):
        origins = origins_of(tracer, node, shop())
        seen[node.id] = set(scalars(node.object)) - origins.keys()
    assert seen == {"Card/north-emma": set(), "Card/north-faust": set(), "Card/south-walden-pond": set()}


def test_a_position_in_front_is_left_out() -> None:
    node = program(RULES, **TEMPLATES).generate(shop(), 100, position=(7,))[1]
    origins = origins_of(Tracer(traced_rules(sources(RULES, TEMPLATES), VOCABULARY), VOCABULARY), node, shop(), position=1)
    assert ("spec", "faust") in origins


def test_an_object_that_is_no_longer_generated_has_no_origins() -> None:
    node = program(RULES, **TEMPLATES).generate(shop(), 100)[2]
    scope = shop()
    del scope["shelves"][1]
    with pytest.raises(LookupError, match="no longer generates Card/south-walden-pond"):
        Tracer(traced_rules(sources(RULES, TEMPLATES), VOCABULARY), VOCABULARY).trace(node, scope)


def test_rules_that_are_wrong_cannot_be_traced() -> None:
    with pytest.raises(InvalidRules):
        Tracer(traced_rules(sources(CARD_RULE + "wehn: true", {"card": CARD}), VOCABULARY), VOCABULARY)
