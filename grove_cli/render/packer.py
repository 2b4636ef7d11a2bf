"""Compresses many similar texts by storing repeated parts once."""

from __future__ import annotations

import re

DEEPEST = 8
"""The largest indentation at which a text is split into parts."""

_SPLITS = [re.compile(rf"^(?= {{0,{indent}}}[^ \n])", re.MULTILINE) for indent in range(0, DEEPEST + 1, 2)]

Part = str | list[int]
"""A text, or the numbers of the parts that it consists of, in order."""


class Packer:
    """Packs indented texts such as YAML. `parts` has the parts of all texts, each after those that it consists of."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._numbers: dict[str | tuple[int, ...], int] = {}
        self._packed: dict[tuple[str, int], int] = {}

    def pack(self, text: str, depth: int = 0) -> int:
        """Returns the number of the part from which `yaml.js` puts the text together again."""
        if (text, depth) not in self._packed:
            self._packed[text, depth] = self._pack(text, depth)
        return self._packed[text, depth]

    def _pack(self, text: str, depth: int) -> int:
        if depth == len(_SPLITS):
            return self._number(text, text)
        pieces = [piece for piece in _SPLITS[depth].split(text) if piece]
        if len(pieces) < 2:
            return self.pack(text, depth + 1)
        numbers = [self.pack(piece, depth + 1) for piece in pieces]
        return self._number(tuple(numbers), numbers)

    def _number(self, key: str | tuple[int, ...], part: Part) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.parts)
            self.parts.append(part)
        return self._numbers[key]
