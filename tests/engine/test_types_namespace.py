"""Annotations mean the classes of their own module first."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.engine.expressions import types

from . import bookshop


@dataclass
class Book:
    """A class of the same name as one of a neighbouring module, which this module imports."""

    spine: str


@dataclass
class Pile:
    top: Book


def test_a_class_of_the_module_hides_one_of_a_neighbour() -> None:
    assert types.attribute_type(Pile, "top") is Book
    assert bookshop.Book.__module__ != Book.__module__


def test_each_module_has_its_own_class_of_that_name() -> None:
    assert types.item_type(types.attribute_type(bookshop.Shelf, "books")) is bookshop.Book
