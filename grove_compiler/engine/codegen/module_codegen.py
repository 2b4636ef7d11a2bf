"""Collects the generated Python source, with the place in the rules that each line comes from."""

from __future__ import annotations

import re
from dataclasses import field
from hashlib import blake2b

from grove_compiler.record import record

Position = tuple[str, int, str]
"""File, line, and the path in the document."""

INDEX = "\1"
"""Stands for the position of a rule in the functions that are generated for it, which are the same wherever the rule stands."""
_MARK = re.compile(r"  #@(\w+)$", re.MULTILINE)


@record
class ModuleCodegen:
    """Collects the lines of the generated module.

    Expressions may span several physical lines, so a place is attached as a comment at the end of a line and turned into a table
    when the module is finished. Places and constants are named after what they are, so that what was generated alone can be added later.
    """

    lines: list[str] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    _places: dict[str, Position] = field(default_factory=dict)
    _serial: int = 0

    @property
    def places(self) -> list[Position]:
        """The places of lines, in the order in which they were added."""
        return list(self._places.values())

    def add(self, depth: int, line: str) -> None:
        """Appends one statement, indented by `depth` spaces."""
        self.lines.append(" " * depth + line)

    def fresh(self, prefix: str) -> str:
        """Returns a name that is unique in the function of a rule."""
        self._serial += 1
        return f"{prefix}{self._serial}"

    def mark(self, place: Position) -> str:
        """Returns a comment that ties the end of a line to its place. It ends with a line break, so that it may stand inside brackets."""
        name = _name_of(place)
        self._places[name] = place
        return f"  #@{name}\n"

    def constant(self, value: object) -> str:
        """Returns the name of a module constant with this value; equal values share one, so that objects share them."""
        python = repr(value)
        if python not in self.constants:
            self.constants[python] = f"K_{_name_of(python)}"
        return self.constants[python]

    def add_generated(self, part: ModuleCodegen, index: int) -> None:
        """Appends what was generated alone, for the rule at this position."""
        self.lines += [line.replace(INDEX, str(index)) for line in part.lines]
        self.constants |= part.constants
        self._places |= part._places

    def finish(self) -> tuple[str, tuple[int, ...]]:
        """Returns the module's source, and for each of its lines the index of its place, or -1."""
        constants = [f"{name} = {python}" for python, name in self.constants.items()]
        text = "\n".join([*constants, *self.lines]).replace("\n\n", "\n") + "\n"
        table = []
        positions = {name: position for position, name in enumerate(self._places)}
        current = -1
        for line in text.split("\n"):
            mark = _MARK.search(line)
            current = positions[mark[1]] if mark else (-1 if not line.startswith((" ", "]", "}", "'")) else current)
            table.append(current)
        return text, tuple(table)


def _name_of(value: object) -> str:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
