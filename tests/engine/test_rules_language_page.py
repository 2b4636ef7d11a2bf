"""The page about the rules language: its examples are built and run, its reference is what the program writes."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.language.keys import OPERATIONS, VERB_KEYS
from grove_compiler.engine.runtime import builtins
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows
from tools.rules_reference import TESTS, VERBS, reference, replace_reference
from tools.rules_reference_classes import reachable_classes, type_words

from .bookshop import VOCABULARY as SHOP
from .bookshop import Author, Book, Shelf

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "rules-language.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections() -> dict[str, list[tuple[str, str, str]]]:
    """For each section of the hand-written half: its blocks as language, first line and text."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for part in PAGE.partition("<!-- reference")[0].split("\n## "):
        title = part.partition("\n")[0]
        found[title] = [(language, text.partition("\n")[0], text) for language, text in BLOCK.findall(part)]
    return found


SECTIONS = sections()
INPUT = next(text for blocks in SECTIONS.values() for _, head, text in blocks if head == "# input.yaml")
EXAMPLES = [title for title, blocks in SECTIONS.items() if any(head.startswith("# rules/") for _, head, _ in blocks)]


def shipped() -> list[RuleSource]:
    files = [path for name in ("rules", "templates") for path in sorted((ROOT / name).rglob("*.yaml"))]
    return [RuleSource(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"), "grove") for path in files]


@functools.cache
def compiled(title: str) -> CompileResult:
    """The set of the page, compiled by the shipped rules and those of a section."""
    files = [(head.removeprefix("# "), text) for _, head, text in SECTIONS[title] if head.startswith(("# rules/", "# templates/"))]
    own = [RuleSource(file, text, "page") for file, text in files]
    return compile_inputs(Inputs(read_yaml(INPUT, "input.yaml")[0]), build([*shipped(), *own], VOCABULARY))


def is_part(expected: Any, found: Any) -> bool:
    """Whether everything that the page shows is there; maps may hold more."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(key in found and is_part(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(is_part(*pair) for pair in zip(expected, found, strict=True))
    return bool(expected == found)


def shown() -> Iterator[tuple[str, Any]]:
    """What the page says that its examples give (`# gives`)."""
    for title in EXAMPLES:
        for _, head, text in SECTIONS[title]:
            if head == "# gives":
                yield from ((title, document) for document in yaml.load_all(text, yaml.CSafeLoader))


def test_the_page_says_what_every_verb_means() -> None:
    assert re.findall(r"^\| `(\w+)` \| ", PAGE.split("## What the verbs mean")[1].split("\n## ")[0], re.MULTILINE) == list(VERB_KEYS)


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_compiles(title: str) -> None:
    assert [finding.message for finding in compiled(title).diagnostics if finding.severity == "error"] == []


@pytest.mark.parametrize(("title", "expected"), list(shown()))
def test_an_example_gives_what_the_page_shows(title: str, expected: Any) -> None:
    made = {(node.object["kind"], node.object["metadata"]["name"]): node.object for node in compiled(title).graph.nodes}
    found = made[expected["kind"], expected["metadata"]["name"]]
    assert is_part(expected, found), found


BUDGET = """
rule: budget/clique
doc: A drain of nodes leaves every gang what it needs.
generate: budget.yaml
forEach: {replica: set.replicas, clique: replica.cliques}
owner: clique.ref
after: [podclique/standalone]
"""
BUDGET_TEMPLATE = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: '{{ clique.name }}'}\n"


def test_where_rules_begin_with_the_same_loops_an_object_waits_for_those_of_the_same_items_and_no_others() -> None:
    own = [RuleSource("rules/budget.yaml", BUDGET, "page"), RuleSource("templates/budget.yaml", BUDGET_TEMPLATE, "page")]
    graph = compile_inputs(Inputs(read_yaml(INPUT, "input.yaml")[0]), build([*shipped(), *own], VOCABULARY)).graph
    (budget,) = [node for node in graph.nodes if node.id == "PodDisruptionBudget/demo-1-worker"]
    assert [node.id for node in graph.dependencies(budget)] == ["PodClique/default/demo-1-worker"]


# -- the reference -------------------------------------------------------------------------------------------------------------------


def test_the_page_is_up_to_date() -> None:
    assert replace_reference(PAGE, VOCABULARY, build(shipped(), VOCABULARY).rules) == PAGE, "run `python tools/generate_reference.py`"


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="the page needs the lines"):
        replace_reference("text", SHOP)


def test_what_stands_around_the_reference_stays() -> None:
    page = "before\n<!-- reference: written by tools/generate_reference.py -->\nold\n<!-- end of reference -->\nafter\n"
    made = replace_reference(page, SHOP)
    assert (made.startswith("before\n<!--"), made.endswith("-->\nafter\n"), "\nold\n" in made) == (True, True, False)


def test_every_test_of_expressions_is_described() -> None:
    assert TESTS.keys() == builtins.TESTS.keys()


def test_every_verb_is_described() -> None:
    assert VERBS.keys() == VERB_KEYS.keys()


@rows("name", [*builtins.FILTERS, *builtins.FUNCTIONS])
def test_every_filter_and_function_says_what_it_gives(name: str) -> None:
    assert {**builtins.FILTERS, **builtins.FUNCTIONS}[name].__doc__


@rows("word", [*builtins.FILTERS, *builtins.TESTS, *OPERATIONS, *(key for keys in VERB_KEYS.values() for key in keys)])
def test_every_word_of_the_language_is_in_the_reference(word: str) -> None:
    assert f"`{word}" in reference(SHOP)


SHOP_LINES = [
    "| `shelves` | list of [Shelf](#shelf) |",
    "| `shop` | map |",
    "| `old` | map |",
    "### Shelf\n\nA shelf and what stands on it.\n",
    "| `best` | [Book](#book) or none |  |",
    "| `ref` | [ObjectRef](#objectref) | How others refer to its box. |",
    "| `titles` | list of text | The titles of its books, in order. |",
    "| `tags` | map of text |  |",
    "| `longer_than(pages)` | boolean |  |",
    "| `anything` | anything |  |",
    "| `shout(text, times)` | The text with exclamation marks. |",
    "| `range(first, end, step)` |",
]


@rows("line", SHOP_LINES)
def test_the_reference_shows_the_names_and_classes_of_a_vocabulary(line: str) -> None:
    assert line in reference(SHOP)


def test_a_class_without_docstring_has_none_in_the_reference() -> None:
    assert "### Author\n\n| attribute" in reference(SHOP)


def test_every_class_that_can_be_reached_is_found_once() -> None:
    assert [owner.__name__ for owner in reachable_classes([list[Shelf], Author | None])] == [
        "Shelf",
        "Author",
        "Book",
        "ObjectRef",
    ]


TYPES = {
    "text": str,
    "number": int,
    "boolean": bool,
    "anything": Any,
    "none": None.__class__,
    "text or none": str | None,
    "list of text": list[str],
    "list": list,
    "map": dict,
    "map of number": dict[str, int],
    "list of list of Book or none": list[list[Book]] | None,
    "list of number": tuple[int, ...],
}


@rows(("words", "annotation"), TYPES.items())
def test_a_type_is_said_in_words(words: str, annotation: Any) -> None:
    assert type_words(annotation) == words


def test_a_vocabulary_without_names_has_a_reference() -> None:
    assert "## Names" in reference(Vocabulary({}))
