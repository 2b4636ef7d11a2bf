"""Collects the generated Python source of one function, with the place in the rules that each line comes from, and compiles it."""

from __future__ import annotations

import re
import warnings
from ast import literal_eval
from dataclasses import field
from hashlib import blake2b
from types import CodeType
from typing import Any, NamedTuple

from grove_compiler.engine.runtime.failure import Position, code_name
from grove_compiler.record import record

_MARK = re.compile(r"  #@(\d+)$")


class CompiledFunction(NamedTuple):
    """Holds the code of a function, the constants that it names, and for each of its lines the index of its place, or -1."""

    code: CodeType | None
    constants: dict[str, Any]
    lines: tuple[int, ...]
    places: tuple[Position, ...]


@record
class FunctionCodegen:
    """Collects the lines of the function of one rule.

    Expressions may span several physical lines, so a place is attached as a comment at the end of a line and turned into a table
    when the function is compiled. Constants are named after what they are: those of all functions are in one namespace.
    """

    lines: list[str] = field(default_factory=list)
    _constants: dict[str, str] = field(default_factory=dict)
    _places: dict[Position, int] = field(default_factory=dict)
    _serial: int = 0

    def add(self, depth: int, line: str) -> None:
        """Appends one statement, indented by `depth` spaces."""
        self.lines.append(" " * depth + line)

    def fresh(self, prefix: str) -> str:
        """Returns a name that is unique in the function."""
        self._serial += 1
        return f"{prefix}{self._serial}"

    def mark(self, place: Position) -> str:
        """Returns a comment that ties the end of a line to its place. It ends with a line break, so that it may stand inside brackets."""
        return f"  #@{self._places.setdefault(place, len(self._places))}\n"

    def constant(self, value: object) -> str:
        """Returns the name of a constant with this value; equal values share one, so that objects share them."""
        python = repr(value)
        name = f"K_{blake2b(python.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
        self._constants[name] = python
        return name

    def values(self) -> dict[str, Any]:
        """Returns the constants by their names."""
        return {name: literal_eval(python) for name, python in self._constants.items()}

    def compiled(self, rule: str) -> CompiledFunction | None:
        """Compiles the function of the rule with this id; a patch has none, and no code.

        Returns None when it is nested too deeply for Python, which can happen though each expression is not.
        """
        text = "\n".join(self.lines).replace("\n\n", "\n")
        table, current = [], -1
        for line in text.split("\n"):
            mark = _MARK.search(line) if "  #@" in line else None
            current = int(mark[1]) if mark else current
            table.append(current)
        try:
            with warnings.catch_warnings():  # what Python thinks of `0 is not None` is nothing that a rule's author can use
                warnings.simplefilter("ignore", SyntaxWarning)
                module = compile(text, code_name(rule), "exec", dont_inherit=True)
            constants = self.values()
        except (SyntaxError, RecursionError, MemoryError):
            return None
        code = next((part for part in module.co_consts if isinstance(part, CodeType)), None)
        return CompiledFunction(code, constants, tuple(table), tuple(self._places))
