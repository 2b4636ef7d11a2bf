"""Annotations mean the classes of their own module first, and an annotation that means nothing is a mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.annotations import Annotations, UnknownType
from grove_compiler.engine.sources import Vocabulary

from . import bookshop
from .bookshop import BOX, BOX_RULE, sources

if TYPE_CHECKING:
    from .bookshop import Shelf


@dataclass
class Book:
    """A class of the same name as one of a neighbouring module, which this module imports."""

    spine: str


@dataclass
class Pile:
    top: Book


@dataclass
class Room:
    shelves: list[Shelf]


def open_rooms(rooms: list[Room]) -> list[Shelf]:
    """The shelves of all rooms."""
    return [shelf for room in rooms for shelf in room.shelves]


@pytest.mark.parametrize("names", [{}, {"Book": bookshop.Book}])
def test_a_class_of_the_module_hides_one_that_is_given(names: dict[str, type]) -> None:
    assert Annotations(names).attribute(Pile, "top") is Book


def test_each_module_has_its_own_class_of_that_name() -> None:
    assert types.item_type(Annotations().attribute(bookshop.Shelf, "books")) is bookshop.Book


def vocabulary(**names: type) -> Vocabulary:
    return Vocabulary({"rooms": list[Room]}, {"open_rooms": open_rooms}, types=names)


LOOPS = ["{room: rooms, shelf: room.shelves}", "{shelf: open_rooms(rooms)}"]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_type_that_a_module_does_not_import_is_one_that_the_vocabulary_gives(loop: str) -> None:
    files = sources(BOX_RULE.replace("{shelf: shelves}", loop), {"box": BOX})
    scope = {"rooms": [Room([bookshop.Shelf("north")])]}
    assert build(files, vocabulary(Shelf=bookshop.Shelf)).generate(scope, 9)[0].id == "Box/north"


@pytest.mark.parametrize("loop", LOOPS)
def test_a_type_that_nobody_knows_is_a_mistake_instead_of_anything_at_all(loop: str) -> None:
    files = sources(BOX_RULE.replace("{shelf: shelves}", loop), {"box": BOX})
    with pytest.raises(UnknownType, match=r"an annotation of tests.engine.test_types_namespace.(Room|open_rooms) names 'Shelf'"):
        build(files, vocabulary())
