"""A small world of another kind than ours for the engine: shelves with books, from which rules make boxes and cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import InvalidRules, RuleSource, SubjectNames, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Node, ObjectRef


@dataclass(eq=False)
class Author:
    name: str
    country: str | None = None


@dataclass(eq=False)
class Book:
    title: str
    pages: int = 100
    author: Author | None = None
    tags: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    former_title: str | None = None
    anything: Any = None

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "-")

    def longer_than(self, pages: int) -> bool:
        return self.pages > pages


@dataclass(eq=False)
class Shelf:
    """A shelf and what stands on it."""

    name: str
    books: list[Book] = field(default_factory=list)
    best: Book | None = None

    @property
    def ref(self) -> ObjectRef:
        """How others refer to its box."""
        return ObjectRef("example.com/v1", "Box", "", self.name)

    @cached_property
    def titles(self) -> list[str]:
        """The titles of its books, in order."""
        return [book.title for book in self.books]


def shout(text: str, times: int = 1) -> str:
    """The text with exclamation marks."""
    return text + "!" * times


def fails(_: Any = None) -> str:
    """What no rule may evaluate without need."""
    raise AssertionError("evaluated though it was not needed")


def loan_days(pages: int, author: Author | None) -> int:
    """For how many days a book is lent."""
    raise NotImplementedError


VOCABULARY = Vocabulary(
    roots={"shelves": list[Shelf], "shop": dict[str, Any]},
    functions={"shout": shout, "fails": fails},
    subjects={"Shop": SubjectNames(roots={}, update_roots={"old": dict[str, Any]})},
)

LENDING = replace(VOCABULARY, decisions={"loan_days": loan_days})
"""The same with something to decide."""

BOX_RULE = """
rule: box/shelf
doc: A shelf is a box.
generate: box.yaml
forEach: {shelf: shelves}
"""

BOX = """
apiVersion: example.com/v1
kind: Box
metadata: {name: "{{ shelf.name }}"}
"""

CARD_RULE = """
rule: card/book
doc: A book has a card.
generate: card.yaml
forEach: {shelf: shelves, book: shelf.books}
"""

CARD = """
apiVersion: example.com/v1
kind: Card
metadata: {name: "{{ shelf.name }}-{{ book.slug }}"}
"""


def sources(rules: str | list[str] = "", templates: Mapping[str, str] | None = None, origin: str = "grove") -> list[RuleSource]:
    """Rules as one file, templates by name without their ending."""
    text = "\n---\n".join(rules) if isinstance(rules, list) else rules
    files = [RuleSource("rules/shop.yaml", text, origin)] if text else []
    return [*files, *(RuleSource(f"templates/{name}.yaml", body, origin) for name, body in (templates or {}).items())]


def program(rules: str | list[str], **templates: str) -> Program:
    """The program of one file of rules and some templates."""
    files = sources(rules, templates)
    return build(files, LENDING if any("decide:" in file.text for file in files) else VOCABULARY)


def mistakes(rules: str | list[str], **templates: str) -> list[Diagnostic]:
    """Everything that is wrong with rules; empty when nothing is."""
    try:
        program(rules, **templates)
    except InvalidRules as invalid:
        return invalid.diagnostics
    return []


def rendered(body: str, scope: Mapping[str, Any] | None = None, rule: str = "") -> Any:
    """The `spec` of the first object of a template with this body under `spec`, indented by two."""
    return objects(body, scope, rule)[0]["spec"]


def objects(body: str, scope: Mapping[str, Any] | None = None, rule: str = "") -> list[Any]:
    """The objects of a template with this body under `spec`: one for each book."""
    return [node.object for node in nodes(body, scope, rule)]


def nodes(body: str, scope: Mapping[str, Any] | None = None, rule: str = "") -> list[Node]:
    """The same as nodes; `rule` holds further keys of the rule, or further rules."""
    card = CARD + "spec:\n" + "".join(f"  {line}\n" for line in body.strip("\n").split("\n"))
    return program(CARD_RULE + rule, card=card).generate(scope or shop(), 1000)


def value(expression: str, scope: Mapping[str, Any] | None = None) -> Any:
    """What an expression gives in a template, where `shelf` and `book` are the first ones."""
    quoted = expression.replace("'", "''")
    return rendered(f"it: '{{{{ {quoted} }}}}'", scope).get("it", "left out")


def shop(**more: Any) -> dict[str, Any]:
    """Two shelves, three books."""
    emma = Book("Emma", 474, Author("Austen", "England"), {"genre": "novel", "used": "yes"}, ["wit", "love", "wit"])
    faust = Book("Faust", 158, Author("Goethe"), {"genre": "play"})
    walden = Book("Walden Pond", 352, None)
    return {"shelves": [Shelf("north", [emma, faust], emma), Shelf("south", [walden])], "shop": {"name": "Corner"}, **more}
