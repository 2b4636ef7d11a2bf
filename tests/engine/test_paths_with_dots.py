"""Keys that look like paths, and paths that are expressions."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.defaults import parse_default_path
from grove_compiler.engine.runtime.failure import RuleFailure
from tests.suite.rows import rows

from .bookshop import CARD, CARD_RULE, mistakes, program, shop

PATHS: dict[str, Any] = {
    "metadata.labels[example.com/team]": [[["key", "metadata"], ["key", "labels"], ["key", "example.com/team"]]],
    "books[*].tags[a.b]": [[["key", "books"], ["each"], ["key", "tags"], ["key", "a.b"]]],
    "[a.b].c": [[["key", "a.b"], ["key", "c"]]],
    "a[b]": [[["key", "a"], ["key", "b"]]],
}


@pytest.mark.parametrize(("text", "steps"), PATHS.items())
def test_a_key_with_dots_stands_in_brackets(text: str, steps: Any) -> None:
    assert parse_default_path(text) == steps


@rows("text", ["a[]", "a[b", "a]b", "a[b*]", "a[*]", "a[[b]]"])
def test_brackets_that_hold_no_key_are_no_path(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_default_path(text)


def test_a_default_sets_a_key_with_dots() -> None:
    rule = {"default": "labels[example.com/team]", "value": "north"}
    text = f"rule: d/team\ndoc: x\nof: Book\n{chr(10).join(f'{key}: {value}' for key, value in rule.items())}"
    manifest = {"kind": "Book", "labels": {"a": "b"}}
    assert program(text).default("Book", manifest, shop())["labels"] == {"a": "b", "example.com/team": "north"}


PATCH = """
---
rule: card/place
doc: x
patch: Card
let: {place: "'/spec/deep'", wrong: "'spec'"}
do: [{op: add, path: "PATH", value: 1}]
"""


def patched(path: str) -> Any:
    return program(CARD_RULE + PATCH.replace("PATH", path), card=CARD).generate(shop(), 100)[0].object


def test_the_path_of_an_operation_may_begin_with_an_expression() -> None:
    assert patched("{{ place }}/part")["spec"] == {"deep": {"part": 1}}


def test_an_expression_that_makes_no_pointer_is_told_with_its_place() -> None:
    with pytest.raises(RuleFailure, match="'spec/part' is not a JSON pointer: it begins with `/`") as failure:
        patched("{{ wrong }}/part")
    assert failure.value.diagnostic.file == "rules/shop.yaml"


def test_a_path_that_begins_with_a_word_is_a_mistake_of_the_rule() -> None:
    found = mistakes(CARD_RULE + PATCH.replace("PATH", "spec/{{ place }}"), card=CARD)
    assert ["begins with `/`" in finding.message for finding in found] == [True]
