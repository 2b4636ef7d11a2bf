"""Builds the tree of places in one pass over a text, for YAML and JSON."""

from __future__ import annotations

from typing import NamedTuple

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.source.document import PlaceNode


class PendingKey(NamedTuple):
    """Holds a key that waits for its value: its offset, its text if it is a valid key, and whether it is a merge key (`<<`)."""

    offset: int
    name: str | None
    merges: bool = False


class PlaceTree:
    """Builds places from containers and scalars in the order of the text. The first of duplicate keys counts."""

    def __init__(self) -> None:
        self._top: list[PlaceNode] = []
        self._open = [PlaceNode(0, self._top)]
        self._keys: list[PendingKey | None] = [None]

    @property
    def expects_key(self) -> bool:
        """Whether the next scalar is the key of an entry."""
        return self._keys[-1] is None and isinstance(self._open[-1].children, dict)

    @property
    def is_complete(self) -> bool:
        """Whether the first value has ended."""
        return len(self._open) == 1 and bool(self._top)

    @property
    def path(self) -> FieldPath:
        """The path of the open container."""
        open_ones = zip(self._open[1:-1], self._keys[1:-1], strict=True)
        return tuple(len(place.children) if isinstance(place.children, list) else (key and key.name) or "" for place, key in open_ones)

    def first(self, name: str) -> PlaceNode | None:
        """Returns the entry that the open mapping already has for this key; None without one."""
        children = self._open[-1].children
        return children.get(name) if isinstance(children, dict) else None

    def key(self, key: PendingKey) -> None:
        """Adds a key, where one is expected."""
        self._keys[-1] = key

    def start(self, place: PlaceNode) -> None:
        """Opens a mapping or a list."""
        self._open.append(place)
        self._keys.append(None)

    def end(self) -> None:
        """Closes the innermost mapping or list, if one is open."""
        if len(self._open) > 1:
            self._keys.pop()
            self.add(self._open.pop())

    def add(self, place: PlaceNode) -> None:
        """Adds a complete value: an item, an entry's value, or in YAML a container that is used as a key."""
        children, key = self._open[-1].children, self._keys[-1]
        if isinstance(children, list):
            children.append(place)
        elif key is None:
            self._keys[-1] = PendingKey(place.offset, None)
        elif isinstance(children, dict):
            self._keys[-1] = None
            place.offset = key.offset
            if key.merges:
                _merge(children, place)
            elif key.name is not None:
                children.setdefault(key.name, place)

    def result(self) -> PlaceNode:
        """Returns the root's place; closes containers that a truncated text has left open."""
        while len(self._open) > 1:
            self.end()
        return self._top[0] if self._top else PlaceNode(0)


def _merge(children: dict[str, PlaceNode], place: PlaceNode) -> None:
    for source in reversed(place.children) if isinstance(place.children, list) else [place]:
        if isinstance(source.children, dict):
            children.update(source.children)
