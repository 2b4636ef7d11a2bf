"""Classes made by `record` behave as dataclasses do, although they get their `__init__` late."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import pytest

from grove_compiler.record import record


@record
class Point:
    """A class with a default and a factory."""

    x: int
    y: int = 0
    marks: list[str] = field(default_factory=list)


@record
class Point3(Point):
    """A class that adds a field."""

    z: int = 0

    def __post_init__(self) -> None:
        self.x += 1


@record(slots=False)
class Circle:
    """A class that remembers what it worked out."""

    radius: int
    parent: Circle | None = field(default=None, repr=False)

    @cached_property
    def area(self) -> int:
        return 3 * self.radius**2


@dataclass(slots=True, eq=False)
class Twin:
    """What the standard library makes of the fields of `Point`."""

    x: int
    y: int = 0
    marks: list[str] = field(default_factory=list)


ARGUMENTS: list[tuple[tuple[int, ...], dict[str, int]]] = [((1,), {}), ((1, 2), {}), ((), {"y": 3, "x": 4})]


@pytest.mark.parametrize(("args", "named"), ARGUMENTS)
def test_a_record_is_made_and_shown_as_a_dataclass_is(args: tuple[int, ...], named: dict[str, int]) -> None:
    assert repr(Point(*args, **named)) == repr(Twin(*args, **named)).replace("Twin", "Point")  # type: ignore[arg-type]


def test_wrong_arguments_are_told_as_a_dataclass_tells_them() -> None:
    with pytest.raises(TypeError) as mine:
        Point(nothing=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError) as theirs:
        Twin(nothing=1)  # type: ignore[call-arg]
    assert str(mine.value) == str(theirs.value).replace("Twin", "Point")


def test_two_instances_share_no_factory_made_value() -> None:
    Point(1).marks.append("a")
    assert Point(1).marks == []


def test_instances_are_equal_to_themselves_alone() -> None:
    one, other = Point(1), Point(1)
    assert (one == one, one == other) == (True, False)


def test_a_subclass_has_the_fields_of_both_whichever_is_made_first() -> None:
    assert (Point3(1, 2, ["a"], 3).z, Point(1).x, Point3(5).x) == (3, 1, 6)


def test_a_record_has_slots_unless_told_otherwise() -> None:
    with pytest.raises(AttributeError):
        Point(1).other = 1  # type: ignore[attr-defined]


def test_a_record_without_slots_remembers_what_it_worked_out() -> None:
    circle = Circle(2)
    assert (circle.area, circle.__dict__["area"]) == (12, 12)


def test_a_record_that_holds_itself_can_be_shown() -> None:
    point = Point(1)
    point.marks = [point]  # type: ignore[list-item]
    assert "..." in repr(point)


def test_fields_that_are_not_to_be_shown_are_not() -> None:
    assert repr(Circle(1, Circle(2))) == "Circle(radius=1)"


def test_records_can_be_copied_and_replaced() -> None:
    assert (copy.copy(Point(1, 2)).y, replace(Point(1, 2), x=3).x, [one.name for one in fields(Point3)]) == (2, 3, ["x", "y", "marks", "z"])


def test_the_first_instance_may_be_made_by_several_at_once() -> None:
    @record
    class Fresh:
        x: int

    early = Fresh.__init__
    Fresh(1)
    late = object.__new__(Fresh)
    early(late, 2)  # another thread had looked `__init__` up before the first instance was made
    assert late.x == 2
