"""Expressions that are wrong as written: all are found when rules are loaded, with file, line and the nearest word."""

from __future__ import annotations

import pytest

from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

from .bookshop import CARD, CARD_RULE, mistakes


def mistakes_of(expression: str) -> list[Diagnostic]:
    """What is wrong with an expression in line 6 of a template."""
    quoted = expression.replace("'", "''")
    return mistakes(CARD_RULE, card=f"{CARD}spec:\n  it: '{{{{ {quoted} }}}}'\n")


NEAREST = {
    "book.titel": ("Book has no attribute 'titel'", "title"),
    "book.author.nam": ("Author has no attribute 'nam'", "name"),
    "shelf.best.titel": ("Book has no attribute 'titel'", "title"),
    "shelf['nam']": ("Shelf has no attribute 'nam'", "name"),
    "shelf.books | map(attribute='titel')": ("Book has no attribute 'titel'", "title"),
    "shelf.books | selectattr('page', 'gt', 1)": ("Book has no attribute 'page'", "pages"),
    "shelf.books | sort(attribute='author.nam')": ("Author has no attribute 'nam'", "name"),
    "(shelf.books | first).titel": ("Book has no attribute 'titel'", "title"),
    "(shelf.books | sort(attribute='pages'))[0].titel": ("Book has no attribute 'titel'", "title"),
    "(shelf.best or book).titel": ("Book has no attribute 'titel'", "title"),
    "(book if true else book).titel": ("Book has no attribute 'titel'", "title"),
    "(shelf.books[1:] + shelf.books)[0].titel or shelf.books[1:][0].titel": ("Book has no attribute 'titel'", "title"),
    "shel.name": ("unknown name 'shel'; in scope are book, shelf, shelves, shop", "shelf"),
    "bok": ("unknown name 'bok'", "book"),
    "book.title | uper": ("unknown filter 'uper'", "upper"),
    "book.words | map('uper')": ("unknown filter 'uper'", "upper"),
    "book.title is strin": ("unknown test 'strin'", "string"),
    "book.words | select('strin')": ("unknown test 'strin'", "string"),
    "shuot('a')": ("unknown function 'shuot'", "shout"),
    "book.longer_then(1)": ("Book has no method 'longer_then'", "longer_than"),
}


@rows(("expression", "said"), NEAREST.items(), ids=NEAREST.keys())
def test_an_unknown_word_is_found_with_the_nearest_one(expression: str, said: tuple[str, str]) -> None:
    (found,) = mistakes_of(expression)
    assert (said[0] in found.message, found.nearest, found.file, found.line) == (True, said[1], "templates/card.yaml", 6)


WRONG = {
    "1 + 'a'": "cannot add a number and text",
    "book.pages - book.title": "cannot subtract a number and text",
    "book.pages > '3'": "cannot compare a number with text",
    "1 < book.pages <= book.author": "cannot compare a number with Author or none",
    "book.title < true": "cannot compare text with a boolean",
    "": "not an expression",
    "1 +": "not an expression",
    "1 2": "not an expression",
    "a b": "not an expression",
    "'abc": "not an expression",
    "[1, 2": "not an expression",
    "book.title.first": "text has no field 'first'",
    "book.pages.first": "a number has no field 'first'",
    "book.words.first": "a list has no field 'first'",
    "none.first": "has no field 'first'",
    "lambda: 1": "not an expression",
    "lambda": "unknown name 'lambda'",
    "book.title if book.pages": "needs an `else`",
    "book.title()": "Book has no method 'title'",
    "book['title']()": "only registered functions and methods",
    "shelf.best.longer_than(1)": "may be none",
    "book.longer_than()": "longer_than(self, pages): missing a required argument: 'pages'",
    "book.longer_than(1, 2)": "too many positional arguments",
    "book.longer_than(page=1)": "longer_than(self, pages)",
    "book.longer_than(pages=1, pages=2)": "'pages' cannot be given twice",
    "book.longer_than(class=1)": "'class' cannot be given",
    "shout(text='a', class='b')": "'class' cannot be given",
    "shout(text='a', text='b')": "'text' cannot be given twice",
    "shout()": "missing a required argument: 'text'",
    "shout(*['a'])": "* and ** arguments",
    "shout(**{'text': 'a'})": "* and ** arguments",
    "book.title | replace('a')": "missing a required argument: 'new'",
    "book.title | upper(1)": "too many positional arguments",
    "book.title | default": "missing a required argument: 'fallback'",
    "book.title | join(class='a')": "'class' cannot be given",
    "book.words | sort(true)": "takes only `attribute='…'`",
    "book.words | sort(reverse=true)": "takes only `attribute='…'`",
    "book.words | sort(key='a')": "takes only `attribute='…'`",
    "book.words | sort(attribute=book.title)": "attribute must be written out as text",
    "book.words | map": "needs an attribute or a name",
    "book.words | map(attribute='a', default=1)": "takes only `attribute='…'`",
    "book.words | map('default', fallback=1)": "takes only `attribute='…'`",
    "book.words | map('replace', 'a')": "missing a required argument: 'new'",
    "book.words | map('map')": "missing a required argument: 'key'",
    "book.words | map('sort', 1)": "'sort' takes nothing here",
    "book.words | map(book.title)": "the name of a filter or test must be written out as text",
    "book.words | select": "needs an attribute or a name",
    "book.words | select('gt')": "missing a required argument: 'other'",
    "book.words | selectattr(book.title)": "the attribute must be written out as text",
    "1 is gt": "missing a required argument: 'other'",
    "'a' is match('[')": "'[' is not a regular expression",
    "'a' is none('b')": "none(value): too many positional arguments",
    "book.words[omit]": "`omit` can be what a whole expression gives",
    "[omit]": "`omit` can be what a whole expression gives",
    "{'a': omit}": "`omit` can be what a whole expression gives",
    "shout(omit)": "`omit` can be what a whole expression gives",
    "not omit": "`omit` can be what a whole expression gives",
    "-omit": "`omit` can be what a whole expression gives",
    "omit == 1": "`omit` can be what a whole expression gives",
    "1 in omit": "`omit` can be what a whole expression gives",
    "omit is none": "`omit` can be what a whole expression gives",
    "omit | length": "`omit` can be what a whole expression gives",
    "'a' ~ (book.former_title or omit)": "`omit` can be what a whole expression gives",
    "1 if omit else 2": "`omit` can be what a whole expression gives",
    "(book.former_title or omit).a": "`omit` can be what a whole expression gives",
    "book": "a Book cannot be part of a manifest",
    "shelf.best": "a Book cannot be part of a manifest",
    "shelf.ref": "a ObjectRef cannot be part of a manifest",
    "1e999": "a number that is too large",
    "9" * 5000: "not an expression",
    "'\\ud800'": "half of a surrogate pair",
    "(" * 3000 + "1" + ")" * 3000: "nested too deeply",
    "not " * 3000 + "1": "nested too deeply",
    "not " * 250 + "1": "nested too deeply",
    "-" * 250 + "1": "nested too deeply",
    "[" * 250 + "]" * 250: "nested too deeply",
    "{'a': " * 250 + "1" + "}" * 250: "nested too deeply",
    " + ".join(["1"] * 20000): "nested too deeply",
    "a" + ".a" * 20000: "nested too deeply",
}


@rows(("expression", "said"), WRONG.items(), ids=[text[:60] for text in WRONG])
def test_an_expression_that_is_wrong_is_found_when_rules_are_loaded(expression: str, said: str) -> None:
    (found,) = mistakes_of(expression)
    assert (said in found.message, found.file, found.line) == (True, "templates/card.yaml", 6), found.message


ESCAPES = [
    "book.__class__",
    "book['__class__']",
    "book.title.__class__",
    "shelf.__class__.__mro__",
    "book.anything.__class__.__subclasses__()",
    "shop.anything.__class__",
    "shelf.books | map(attribute='__class__')",
    "shelf.books | map(attribute='author.__class__')",
    "shelf.books | selectattr('__class__')",
    "shop._private",
    "'{0.__class__}'.format(book)",
    "'{}'.format_map(shop)",
    "'%s' | format(book)",
    "book.title.upper()",
    "shout.__globals__",
    "range.__self__",
    "self",
    "namespace()",
    "cycler(1)",
    "lipsum()",
    "dict()",
    "open('a')",
    "eval('1')",
    "__import__('os')",
    "as_text(1)",
    "v_book",
    "book.title | attr('__class__')",
    "book | pprint",
    "book.title | map('attr', '__class__')",
    "(1).__class__",
    "[].__class__",
    "book.longer_than.__func__",
    "book.longer_than",
    "book.ｔitle",
]


@rows("expression", ESCAPES)
def test_nothing_leads_out_of_the_names_in_scope(expression: str) -> None:
    assert mistakes_of(expression)


TEXTS = {
    "{{ book.title": "not an expression",
    "a {{ omit }}": "`omit` can be",
    "a {{ book.former_title or omit }} b": "`omit` can be",
    "{{ book.title }} {{ }}": "not an expression",
    "a {{ bok }} {{ shelv }}": "unknown name",
}


@pytest.mark.parametrize(("text", "said"), TEXTS.items())
def test_text_with_a_wrong_expression_is_found_when_rules_are_loaded(text: str, said: str) -> None:
    (found,) = mistakes(CARD_RULE, card=f"{CARD}spec:\n  it: '{text}'\n")
    assert (said in found.message, found.line) == (True, 6)


def test_statements_of_jinja_are_text() -> None:
    from .bookshop import rendered

    assert rendered("it: '{% if true %}{# a #}{{ 1 }}'") == {"it": "{% if true %}{# a #}1"}


def test_braces_around_an_expression_that_needs_none_are_found() -> None:
    (found,) = mistakes(CARD_RULE + 'when: "{{ book.pages }}"\n', card=CARD)
    assert (found.message, found.line) == ("this key takes a bare expression; omit the braces {{ }}", 6)


def test_what_a_name_stands_for_is_checked_where_the_name_is_used() -> None:
    (found,) = mistakes(CARD_RULE + "let: {writer: book.author}\n", card=CARD + "spec: {it: '{{ writer.nam }}'}\n")
    assert (found.message, found.nearest) == ("Author has no attribute 'nam'", "name")


def test_a_name_that_may_be_omit_cannot_stand_inside_text() -> None:
    (found,) = mistakes(CARD_RULE + "let: {other: book.former_title or omit}\n", card=CARD + "spec: {it: 'a{{ other }}'}\n")
    assert "`omit`" in found.message


def test_every_wrong_expression_of_all_files_is_found_at_once() -> None:
    rule = CARD_RULE + "when: [book.page, book.titel]\nlet: {a: bok}\nowner: shelf.reff\n"
    found = mistakes(rule, card=CARD + "spec: {it: '{{ book.nam }}', and: '{{ book.word }}'}\n")
    assert [finding.nearest for finding in found] == ["pages", "title", "book", "ref", "", "words"]


def test_a_mistake_in_a_template_of_two_rules_is_found_once() -> None:
    other = CARD_RULE.replace("card/book", "card/other")
    assert len(mistakes([CARD_RULE, other], card=CARD + "spec: {it: '{{ book.titel }}'}\n")) == 1
