"""What differs between two objects, as sets of fields (structured-merge-diff's `Compare`)."""

from __future__ import annotations

from typing import Any

from applier.decision.fields import Fields, add
from applier.decision.items import steps_to
from applier.decision.schema import Type
from applier.decision.shape import LIST, MAP, is_leaf, member_type, shape_of
from applier.decision.values import equal
from applier.outcome import ABSENT


class Comparison:
    """Fields that the second object has and the first has not, that both have with other values, and that it lacks."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added: Fields = {}
        self.modified: Fields = {}
        self.removed: Fields = {}


def compare(first: Any, second: Any, type: Type) -> Comparison:
    """Raises `Misfit` where one of them breaks the schema. Parts that both share are not looked into."""
    found = Comparison()
    _Walk(found).visit(first, second, type, ())
    return found


class _Walk:
    def __init__(self, found: Comparison) -> None:
        self.found = found

    def visit(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        if first is second:
            return
        for shape in dict.fromkeys(shape_of(type, value) for value in (first, second) if value is not ABSENT):
            leaf = self._shaped(shape, first, second, type, path)
        if not leaf and path:
            if first is ABSENT:
                add(self.found.added, path)
            elif second is ABSENT:
                add(self.found.removed, path)

    def _shaped(self, shape: str, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> bool:
        """Compares as one shape; says whether that was a leaf."""
        kind = dict if shape == MAP else list
        lower = first if isinstance(first, kind) else None
        upper = second if isinstance(second, kind) else None
        if is_leaf(type, shape) or (not lower and not upper):
            if path:
                self._leaf(first, second, path)
            return True
        if shape == LIST:
            self._lists(lower or [], upper or [], type, path)
        else:
            self._maps(lower or {}, upper or {}, type, path)
        return False

    def _leaf(self, first: Any, second: Any, path: tuple[str, ...]) -> None:
        if first is ABSENT:
            add(self.found.added, path)
        elif second is ABSENT:
            add(self.found.removed, path)
        elif not equal(first, second):
            add(self.found.modified, path)

    def _maps(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        for name in first.keys() | second.keys():
            self.visit(first.get(name, ABSENT), second.get(name, ABSENT), member_type(type, name), (*path, f"f:{name}"))

    def _lists(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        lower, upper = _grouped(first, type), _grouped(second, type)
        for step in lower.keys() | upper.keys():
            self._items(lower.get(step, []), upper.get(step, []), type, (*path, step))

    def _items(self, first: list[Any], second: list[Any], type: Type, path: tuple[str, ...]) -> None:
        """Items of one name; where there are several, they are compared as a whole."""
        if len(first) < 2 and len(second) < 2:
            self.visit(first[0] if first else ABSENT, second[0] if second else ABSENT, type.item, path)
        elif len(first) > 1 and len(second) > 1:
            if not equal(first, second):
                add(self.found.modified, path)
        elif len(first) > 1:
            if second:
                self.visit(ABSENT, second[0], type.item, path)
            add(self.found.removed, path)
        else:
            if first:
                self.visit(first[0], ABSENT, type.item, path)
            add(self.found.added, path)


def _grouped(items: list[Any], type: Type) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for step, item in zip(steps_to(items, type), items, strict=True):
        found.setdefault(step, []).append(item)
    return found
