"""What expressions give: operators, filters, tests, functions, access to models and to maps."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.failure import RuleFailure
from tests.suite.rows import rows

from .bookshop import Author, Book, Shelf, shop, value

OPERATORS = {
    "1 + 2": 3,
    "7 - 2": 5,
    "7 * 6": 42,
    "7 / 2": 3.5,
    "7 // 2": 3,
    "7 % 4": 3,
    "2 ** 10": 1024,
    "2 ** 3 ** 2": 64,
    "-book.pages": -474,
    "+3": 3,
    "'a' ~ 1 ~ true": "a1true",
    "'a' + 'b'": "ab",
    "[1] + [2]": [1, 2],
    "'ab' * 2": "abab",
    "1 < 2": True,
    "2 <= 2": True,
    "1 > 2": False,
    "2 >= 3": False,
    "1 == 1.0": True,
    "'a' != 'b'": True,
    "1 < 2 < 3": True,
    "1 < 3 < 2": False,
    "'wit' in book.words": True,
    "'wit' not in book.words": False,
    "'genre' in book.tags": True,
    "'x' in none": False,
    "true and false": False,
    "true or fails()": True,
    "false and fails()": False,
    "not true": False,
    "1 if book.pages > 100 else 2": 1,
    "fails() if book.pages < 100 else 2": 2,
    "[1, 'a', none]": [1, "a", None],
    "(1, 2)": [1, 2],
    "{'a': 1, 'b': book.title}": {"a": 1, "b": "Emma"},
    "book.words[0]": "wit",
    "book.words[-1]": "wit",
    "book.words[9]": None,
    "book.words[1:]": ["love", "wit"],
    "book.words[::-1]": ["wit", "love", "wit"],
    "book.title[:2]": "Em",
    "book.tags['genre']": "novel",
    "book.tags.genre": "novel",
    "book.tags.nothing": None,
    "0x1F": 31,
    "1_000": 1000,
    "1.5": 1.5,
}


@rows(("expression", "expected"), OPERATORS.items(), ids=OPERATORS.keys())
def test_an_operator_gives_what_jinja_says(expression: str, expected: Any) -> None:
    assert value(expression) == expected


FILTERS = {
    "book.words | length": 3,
    "none | length": 0,
    "book.title | count": 4,
    "book.words | join('-')": "wit-love-wit",
    "[1, true, 'a'] | join": "1truea",
    "shelf.books | map(attribute='author.name') | list": ["Austen", "Goethe"],
    "shelf.books | map(attribute='author.country') | list": ["England", None],
    "book.words | map('upper')": ["WIT", "LOVE", "WIT"],
    "book.words | map('replace', 'w', 'h')": ["hit", "love", "hit"],
    "[1, none] | map('default', 0)": [1, 0],
    "shelf.books | selectattr('pages', 'gt', 200) | map(attribute='title')": ["Emma"],
    "shelf.books | selectattr('author.country') | map(attribute='title')": ["Emma"],
    "shelf.books | rejectattr('author.country') | map(attribute='title')": ["Faust"],
    "shelf.books | rejectattr('pages', 'gt', 200) | map(attribute='title')": ["Faust"],
    "shelf.books | select('none') | map(attribute='title') | list": [],
    "[1, none, 'a'] | select('string')": ["a"],
    "[1, none, 'a'] | reject('none')": [1, "a"],
    "[1, 2, 3] | reject('in', [2])": [1, 3],
    "[3, 1, 2] | sort": [1, 2, 3],
    "shelf.books | sort(attribute='pages') | map(attribute='title')": ["Faust", "Emma"],
    "book.words | unique": ["wit", "love"],
    "shelf.books | unique(attribute='author.country') | length": 2,
    "book.words | duplicates": ["wit"],
    "[1, 1, 1, 2, 2] | duplicates": [1, 2],
    "[1, 1, none, 2, none, 1, '', ''] | repeats": [1, 5],
    "[[1], 1, [1], {'a': 1}, {'a': 1}] | repeats": [2, 4],
    "shelf.books | repeats(attribute='author.country')": [],
    "book.words | as_set | sort": ["love", "wit"],
    "'wit' in (book.words | as_set)": True,
    "[1, 'a', 2.5] | shown": "1, a, 2.5",
    "range(53) | shown": ", ".join(map(str, range(50))) + " and 3 more",
    "none | shown": "",
    "[[1], 1, [1], {'a': 1}, 1, {'a': 1}, [1]] | duplicates": [[1], 1, {"a": 1}],
    "[[1], 1, [1], {'a': 1}, true, {'a': 1}] | unique": [[1], 1, {"a": 1}],
    "book.words | first": "wit",
    "[] | first": None,
    "book.words | last": "wit",
    "none | last": None,
    "[1, 2] | sum": 3,
    "shelf.books | sum(attribute='pages')": 632,
    "[2, 1] | min": 1,
    "[] | min": None,
    "[2, 1] | max": 2,
    "(shelf.books | max(attribute='pages')).title": "Emma",
    "(shelf.books | min(attribute='pages')).title": "Faust",
    "book.words | list": ["wit", "love", "wit"],
    "book.tags | items": [["genre", "novel"], ["used", "yes"]],
    "book.tags | keys": ["genre", "used"],
    "book.tags | values": ["novel", "yes"],
    "none | items": [],
    "{'a': 1} | over({'a': 2, 'b': 3})": {"a": 1, "b": 3},
    "none | over({'b': 3})": {"b": 3},
    "book.tags | without('used')": {"genre": "novel"},
    "book.words | without('wit')": ["love"],
    "none | default(5)": 5,
    "0 | default(5)": 0,
    "none | d(5)": 5,
    "none | default(fallback=5)": 5,
    "1 | string": "1",
    "true | string": "true",
    "{'a': none} | string": '{"a": null}',
    "'12' | int": 12,
    "'Ab' | lower": "ab",
    "'Ab' | upper": "AB",
    "' a ' | trim": "a",
    "'aba' | replace('a', 'c')": "cbc",
    "{'b': 1, 'a': [none]} | tojson": '{"a":[null],"b":1}',
    "book.title | shout": "Emma!",
    "book.title | shout(2)": "Emma!!",
}


@rows(("expression", "expected"), FILTERS.items(), ids=FILTERS.keys())
def test_a_filter_gives_what_its_documentation_says(expression: str, expected: Any) -> None:
    assert value(expression) == expected


TESTS = {
    "none is none": True,
    "book.former_title is none": True,
    "book.title is defined": True,
    "none is not defined": True,
    "true is true": True,
    "1 is true": False,
    "false is false": True,
    "0 is false": False,
    "'a' is string": True,
    "1 is string": False,
    "true is boolean": True,
    "1 is boolean": False,
    "1 is integer": True,
    "true is integer": False,
    "1.5 is integer": False,
    "1.5 is number": True,
    "true is number": False,
    "book.tags is mapping": True,
    "book.words is mapping": False,
    "book.words is sequence": True,
    "'ab' is sequence": False,
    "'ab12' is match('[a-z]+[0-9]+')": True,
    "'ab12' is match('[a-z]+')": False,
    "5 is match('5')": False,
    "1 is in [1, 2]": True,
    "1 is eq 1": True,
    "1 is equalto 2": False,
    "1 is ne 2": True,
    "1 is lt 2": True,
    "1 is gt 2": False,
    "1 is le 1": True,
    "1 is ge 2": False,
    "'abc' is startswith('ab')": True,
    "'abc' is endswith('bc')": True,
    "none is startswith('ab')": False,
}


@rows(("expression", "expected"), TESTS.items(), ids=TESTS.keys())
def test_a_test_says_whether_its_documentation_holds(expression: str, expected: bool) -> None:
    assert value(expression) is expected


FUNCTIONS = {
    "range(3)": [0, 1, 2],
    "range(1, 3)": [1, 2],
    "range(6, 0, -2)": [6, 4, 2],
    "range(3) | length": 3,
    "shout('a', times=3)": "a!!!",
    "owner_references(none)": [],
    "book.longer_than(400)": True,
    "book.longer_than(pages=500)": False,
}


@rows(("expression", "expected"), FUNCTIONS.items(), ids=FUNCTIONS.keys())
def test_a_function_or_method_is_called_with_its_arguments(expression: str, expected: Any) -> None:
    assert value(expression) == expected


MANIFESTS = {
    "shop.name": "Corner",
    "shop.nothing": None,
    "shop.nothing.at.all": None,
    "shop.nothing['at'].all[3]": None,
    "shop['name']": "Corner",
    "shop.nothing | length": 0,
    "shop.nothing is none": True,
    "shop.nothing or 'else'": "else",
    "shelf.best.title": "Emma",
    "shelf.best.author.country": "England",
    "book.author.name[0]": "A",
    "book.tags.nothing[0]": None,
}


@rows(("expression", "expected"), MANIFESTS.items(), ids=MANIFESTS.keys())
def test_what_is_absent_reads_as_none(expression: str, expected: Any) -> None:
    assert value(expression) == expected


def test_an_attribute_of_an_optional_model_that_is_none_is_none() -> None:
    assert value("shelf.best.author.name", {"shelves": [Shelf("a", [Book("b")])], "shop": {}}) is None


@pytest.mark.parametrize("expression", ["(shelf.name and shelf.best).title", "(shelf.best and shelf.best.author).name"])
def test_the_result_of_and_may_be_none_when_either_side_may(expression: str) -> None:
    assert value(expression, {"shelves": [Shelf("a", [Book("b")])], "shop": {}}) is None


OMITTED = {
    "book.former_title or omit": "left out",
    "book.title or omit": "Emma",
    "omit if book.pages > 1 else 5": "left out",
    "5 if book.pages > 1 else omit": 5,
    "book.former_title | default(omit)": "left out",
    "book.former_title | default(fallback=omit)": "left out",
    "book.former_title and omit": None,
    "omit": "left out",
}


@rows(("expression", "expected"), OMITTED.items(), ids=OMITTED.keys())
def test_a_key_whose_value_is_omit_is_left_out(expression: str, expected: Any) -> None:
    assert value(expression) == expected


FAILURES = {
    "'a' // 2": "TypeError",
    "1 / 0": "ZeroDivisionError",
    "shop.name.first": "text has no field 'first'",
    "shop.name < 3": "TypeError",
    "'a' ~ none": "none cannot stand inside text",
    "'a' ~ shelf": "Shelf cannot stand inside text",
    "none | join('-') ~ [none] | join": "none cannot stand inside text",
    "shop.name | items": "expected a map, found text",
    "[1, 'a'] | sort": "cannot sort",
    "'x' | int": "'x' is not a whole number",
    "(1e300 * 1e300) | int": "is not a whole number",
    "shop | map('upper')": "cannot loop over a map; say `| items` or `| keys`",
    "1 in 2": "cannot look for a number in a number",
    "shop.name[shop]": "text cannot be indexed by a map",
    "1[0]": "a number has no items",
    "'a' is match(shop.name ~ '[')": "is not a regular expression",
    "'%s' % 'a'": "% is for numbers, not for text",
    "shop.name % 3": "% is for numbers, not for text",
    "'x' * 10 ** 9": "makes more than 100000 items",
    "10 ** 9 * 'x'": "makes more than 100000 items",
    "[1] * 10 ** 9": "makes more than 100000 items",
    "9 ** 99": "out of bounds",
    "9 ** 9 ** 9 ** 9": "out of bounds",
    "(-1) ** 0.5": "is not a real number",
    "(2 ** 32) ** 64 * (2 ** 32) ** 64 * (2 ** 32) ** 64": "out of bounds",
    "range(10 ** 12)": "too many numbers",
    "range(10 ** 30)": "too many numbers",
    "range(1, 2, 0)": "ValueError",
}


@rows(("expression", "said"), FAILURES.items(), ids=FAILURES.keys())
def test_an_expression_that_cannot_be_evaluated_names_its_line(expression: str, said: str) -> None:
    with pytest.raises(RuleFailure) as caught:
        value(expression)
    assert said in caught.value.diagnostic.message
    assert (caught.value.diagnostic.file, caught.value.diagnostic.line) == ("templates/card.yaml", 6)


def test_a_field_of_an_unknown_type_is_read_from_the_model() -> None:
    scope = shop()
    scope["shelves"][0].books[0].anything = Author("Anyone")
    assert value("book.anything.name", scope) == "Anyone"


def test_an_attribute_that_a_model_of_unknown_type_lacks_is_a_failure() -> None:
    scope = shop()
    scope["shelves"][0].books[0].anything = Author("Anyone")
    with pytest.raises(RuleFailure, match="Author has no attribute 'title'"):
        value("book.anything.title", scope)


def test_a_set_is_not_looped_over_for_it_has_no_order() -> None:
    scope = shop()
    scope["shelves"][0].books[0].anything = {"b", "a"}
    with pytest.raises(RuleFailure, match="a set has no order"):
        value("book.anything | join", scope)
