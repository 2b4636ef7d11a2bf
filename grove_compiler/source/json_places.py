"""Where each value of a JSON text stands; runs only when a diagnostic or `explain` asks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.source.document import Place

_TOKEN = re.compile(r'[ \t\n\r]*([{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+)', re.DOTALL)

SeenScalar = Callable[[str, int], None]
SeenDuplicate = Callable[[FieldPath, int, int], None]


def json_places(text: str, on_scalar: SeenScalar | None = None, on_duplicate: SeenDuplicate | None = None) -> Place:
    """Returns the places of the first value in a JSON text. The last of duplicate keys counts, as it does for the value.

    `on_scalar` is called with the text and the offset of each key and scalar, `on_duplicate` with the path of each key that its
    object has already, the offset where it stood first and its own.
    """
    scan = _Scan(on_scalar, on_duplicate)
    for token, offset in _tokens(text):
        scan.take(token, offset)
        if scan.done:
            break
    return scan.result()


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        yield match.group(1), match.start(1)


class _Scan:
    def __init__(self, on_scalar: SeenScalar | None, on_duplicate: SeenDuplicate | None) -> None:
        self.on_scalar = on_scalar
        self.on_duplicate = on_duplicate
        self.top: list[Place] = []
        self.open = [Place(0, 0, self.top)]
        # For each open container the step to its current child, and the offset of the key whose value has not come yet.
        self.steps: list[str | int] = [0]
        self.keys: list[int | None] = [None]

    @property
    def done(self) -> bool:
        return len(self.open) == 1 and bool(self.top)

    @property
    def path(self) -> FieldPath:
        return tuple(self.steps[1:])

    def result(self) -> Place:
        return self.top[0] if self.top else Place(0, 0)

    def take(self, token: str, offset: int) -> None:
        if token in "{[":
            self.open.append(self._attach(offset, {} if token == "{" else []))
            self.steps.append("")
            self.keys.append(None)
        elif token in "}]":
            if len(self.open) > 1:
                del self.open[-1], self.steps[-1], self.keys[-1]
        elif token not in ",:":
            self._scalar(token, offset)

    def _scalar(self, token: str, offset: int) -> None:
        children = self.open[-1].children
        if isinstance(children, dict) and self.keys[-1] is None:
            self.steps[-1], self.keys[-1] = _unquoted(token), offset
            if self.on_duplicate and self.steps[-1] in children:
                self.on_duplicate(self.path, children[self.steps[-1]].key, offset)
        else:
            self._attach(offset, None)
        if self.on_scalar:
            self.on_scalar(token, offset)

    def _attach(self, offset: int, children: dict[str, Place] | list[Place] | None) -> Place:
        place = Place(offset, offset, children)
        siblings, key, step = self.open[-1].children, self.keys[-1], self.steps[-1]
        if isinstance(siblings, list):
            self.steps[-1] = len(siblings)
            siblings.append(place)
        elif isinstance(siblings, dict) and isinstance(step, str):
            place.key = offset if key is None else key
            siblings[step] = place
            self.keys[-1] = None
        return place


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token
