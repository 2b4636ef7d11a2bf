"""Defines `Document`, one document of an input file: its value, the objects in it, and the place of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record


class PlaceNode:
    """Holds the offset of a value, or of an entry's key, in the scanned text; `children` are the places in a mapping or a list."""

    __slots__ = ("children", "offset")

    def __init__(self, offset: int, children: dict[str, PlaceNode] | list[PlaceNode] | None = None) -> None:
        self.offset = offset
        self.children = children


class Origin(NamedTuple):
    """Locates the text of a document: `text[start:end]`, where `text` is the whole file and `start` is in line `line`.

    `scan` finds the place of every value in a document's text. It only runs when a place is needed, so that reading costs nothing.
    """

    text: str
    start: int
    end: int
    line: int
    scan: Callable[[str], PlaceNode]


@record
class Document:
    """Holds a value read from a file: dicts, lists, str, int, float, bool and None.

    `index` counts the file's documents from 0, empty ones left out. `line` is where the document's content begins, from 1.
    Parts that an alias repeats are one shared object: treat `value` as read-only.
    """

    value: Any
    file: str = ""
    index: int = 0
    line: int = 1
    origin: Origin | None = None
    _root: PlaceNode | None = None

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Returns line and column, from 1, of a mapping entry's key or of a list item; of the nearest existing ancestor otherwise."""
        if self.origin is None:
            return self.line, 1
        text, start, end, line, scan = self.origin
        if self._root is None:
            self._root = scan(text[start:end])
        below, column = position(text, start, start + nearest(self._root, path).offset)
        return line + below - 1, column

    def finding(self, code: str, message: str, path: FieldPath = (), severity: Severity = "error", **more: Any) -> Diagnostic:
        """Returns a finding about a path, with file, line and column. `more` are further fields of `Diagnostic`."""
        line, column = self.place(path)
        return Diagnostic(code, severity, message, render(path), self.file, line, column, **more)

    def path_in_file(self, path: FieldPath) -> FieldPath:
        """Returns the path in the file: the same one, unless the document was made from a part of another."""
        return path


def nearest(place: PlaceNode, path: FieldPath) -> PlaceNode:
    """Returns the place at `path`, or that of its longest prefix that exists."""
    for step in path:
        children = place.children
        child = None
        if isinstance(children, dict):
            child = children.get(step)  # type: ignore[arg-type]  # an index is simply not among the keys
        elif children is not None and isinstance(step, int) and 0 <= step < len(children):
            child = children[step]
        if child is None:
            break
        place = child
    return place


def position(text: str, start: int, offset: int) -> tuple[int, int]:
    """Returns line, counted from 1 at `start`, and column from 1 of an offset. Reads no text before the line of `start`."""
    breaks = text.count("\n", start, offset) + text.count("\r", start, offset) - text.count("\r\n", start, offset)
    after_newline = text.rfind("\n", 0, offset) + 1
    line_start = max(after_newline, text.rfind("\r", after_newline, offset) + 1)
    return breaks + 1, offset - line_start + 1


def line_starts(text: str) -> list[int]:
    """Returns the offset of the beginning of each line."""
    import re  # only for a file in which something is wrong

    return [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]


def is_list(value: Any) -> bool:
    """Reports whether a manifest is a list of objects: `List`, `NodeList`, as kubectl and the API print them."""
    return isinstance(value, dict) and str(value.get("kind")).endswith("List") and isinstance(value.get("items"), list)


def objects_in(value: Any, at: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yields a manifest with its path, or the items of a list and of lists in it, as kubectl does.

    An item without a kind gets that of its typed list, where the API leaves it out. The values need not be maps.
    """
    if not is_list(value):
        yield at, value
        return
    kind = value["kind"].removesuffix("List")
    typed = {key: text for key, text in (("apiVersion", value.get("apiVersion")), ("kind", kind)) if kind and isinstance(text, str)}
    for position, item in enumerate(value["items"]):
        bare = typed and isinstance(item, dict) and "kind" not in item
        yield from objects_in({**typed, **item} if bare else item, (*at, "items", position))
