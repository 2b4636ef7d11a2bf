"""Annotations mean the classes of their own module, and an annotation that means nothing is a mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.expressions import model_types, types
from grove_compiler.engine.expressions.model_types import UnknownType
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


def test_a_class_of_the_module_is_meant_first() -> None:
    assert model_types.attribute(Pile, "top") is Book


def test_each_module_has_its_own_class_of_that_name() -> None:
    assert types.item_type(model_types.attribute(bookshop.Shelf, "books")) is bookshop.Book


@pytest.mark.parametrize("loop", ["{room: rooms, shelf: room.shelves}", "{shelf: open_rooms(rooms)}"])
def test_a_type_that_a_module_does_not_import_is_a_mistake_instead_of_anything_at_all(loop: str) -> None:
    files = sources(BOX_RULE.replace("{shelf: shelves}", loop), {"box": BOX})
    with pytest.raises(UnknownType, match=r"an annotation of tests.engine.test_types_namespace.(Room|open_rooms) names 'Shelf'"):
        build(files, Vocabulary({"rooms": list[Room]}, {"open_rooms": open_rooms}))
