"""Collects the generated Python source, with the place in the rules that each line comes from."""

from __future__ import annotations

import re
from dataclasses import field

from grove_compiler.record import record

Position = tuple[str, int, str]
"""File, line, and the path in the document."""

_MARK = re.compile(r"  #@(\d+)$", re.MULTILINE)


@record
class ModuleCodegen:
    """Collects the lines of the generated module.

    Expressions may span several physical lines, so a place is attached as a comment at the end of a line and turned into a table
    when the module is finished.
    """

    lines: list[str] = field(default_factory=list)
    places: list[Position] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    _places: dict[Position, int] = field(default_factory=dict)
    _serial: int = 0

    def add(self, depth: int, line: str) -> None:
        """Appends one statement, indented by `depth` spaces."""
        self.lines.append(" " * depth + line)

    def fresh(self, prefix: str) -> str:
        """Returns a name that is unique in the module."""
        self._serial += 1
        return f"{prefix}{self._serial}"

    def mark(self, place: Position) -> str:
        """Returns a comment that ties the end of a line to its place. It ends with a line break, so that it may stand inside brackets."""
        index = self._places.setdefault(place, len(self.places))
        if index == len(self.places):
            self.places.append(place)
        return f"  #@{index}\n"

    def constant(self, value: object) -> str:
        """Returns the name of a module constant with this value; equal values share one, so that objects share them."""
        python = repr(value)
        if python not in self.constants:
            self.constants[python] = self.fresh("K")
        return self.constants[python]

    def finish(self) -> tuple[str, tuple[int, ...]]:
        """Returns the module's source, and for each of its lines the index of its place, or -1."""
        constants = [f"{name} = {python}" for python, name in self.constants.items()]
        text = "\n".join([*constants, *self.lines]).replace("\n\n", "\n") + "\n"
        table = []
        current = -1
        for line in text.split("\n"):
            mark = _MARK.search(line)
            current = int(mark[1]) if mark else (-1 if not line.startswith((" ", "]", "}", "'")) else current)
            table.append(current)
        return text, tuple(table)
