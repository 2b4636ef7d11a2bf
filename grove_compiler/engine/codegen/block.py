"""Collects the generated Python source of one function, with the place in the rules that each line comes from, and compiles it."""

from __future__ import annotations

import re
import warnings
from dataclasses import field
from hashlib import blake2b
from types import CodeType
from typing import Any, NamedTuple

from grove_compiler.engine.language.place import SourceLocation
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
class Block:
    """Collects the statements of the function of one rule: lines at the current indentation, and the lazy parts of each loop level.

    Expressions may span several physical lines, so a place is attached as a comment at the end of a line and turned into a table
    when the function is compiled. Constants are named after what they are: those of all functions are in one namespace.

    `shape` is the variable that, in traced code, records what decides over the container being written; `None` is the whole object.
    """

    lines: list[str] = field(default_factory=list)
    indent: int = 0
    shape: str = "None"
    _levels: dict[int, tuple[int, int]] = field(default_factory=dict)
    _lazies: dict[int, list[str]] = field(default_factory=dict)
    _constants: dict[str, str] = field(default_factory=dict)
    _places: dict[Position, int] = field(default_factory=dict)
    _serial: int = 0

    def add(self, line: str, at: SourceLocation | None = None) -> None:
        """Appends one statement at the current indentation, tied to the place that it comes from."""
        self.lines.append(" " * self.indent + line + (self.mark(at) if at is not None else ""))

    def open(self, line: str, at: SourceLocation | None = None) -> None:
        """Appends the head of a compound statement; what is written next is its body."""
        self.add(line, at)
        self.indent += 1

    def mark(self, at: SourceLocation) -> str:
        """Returns a comment that ties the end of a line to its place. It ends with a line break, so that it may stand inside brackets."""
        return f"  #@{self._places.setdefault(at.written, len(self._places))}\n"

    def fresh(self, prefix: str) -> str:
        """Returns a name that is unique in the function."""
        self._serial += 1
        return f"{prefix}{self._serial}"

    def constant(self, value: object) -> str:
        """Returns the name of a constant with this value; equal values share one, so that objects share them."""
        python = repr(value)
        name = f"K_{blake2b(python.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
        self._constants[name] = python
        return name

    def begin_level(self, depth: int) -> None:
        """Begins a loop level of the rule, where its lazy parts will be declared."""
        self._levels[depth] = len(self.lines), self.indent

    def lazy(self, depth: int) -> str:
        """Returns the name of a part that is built once for each value of the loops up to a level; None at the begin of the level."""
        name = self.fresh("h")
        self._lazies.setdefault(depth, []).append(name)
        return name

    def begin_shape(self, kind: type) -> str:
        """Begins the shape of a container or a patch; returns the outer shape, which the caller restores."""
        outer, self.shape = self.shape, self.fresh("s")
        self.add(f"{self.shape} = Shape({outer}, {kind.__name__})")
        return outer

    def values(self) -> dict[str, Any]:
        """Returns the constants by their names.

        They are literals that `constant` has written. `ast.literal_eval` fails now and then where two threads parse at once (CPython 3.11:
        "AST constructor recursion depth mismatch").
        """
        return {name: eval(python, {"__builtins__": {}}) for name, python in self._constants.items()}

    def source(self) -> str:
        """Returns the source of the function; empty for a patch, which has none."""
        lines = [*self.lines, " return"] if self.lines else []
        for depth in sorted(self._lazies, reverse=True):
            position, indent = self._levels[depth]
            lines.insert(position, f"{' ' * indent}{' = '.join([*self._lazies[depth], 'None'])}")
        return "\n".join(lines).replace("\n\n", "\n")

    def compiled(self, rule: str) -> CompiledFunction | None:
        """Compiles the function of the rule with this id. Returns None when it is nested too deeply for Python, though no expression is."""
        source, table, current = self.source(), [], -1
        for line in source.split("\n"):
            mark = _MARK.search(line) if "  #@" in line else None
            current = int(mark[1]) if mark else current
            table.append(current)
        try:
            with warnings.catch_warnings():  # what Python thinks of `0 is not None` is nothing that a rule's author can use
                warnings.simplefilter("ignore", SyntaxWarning)
                module = compile(source, code_name(rule), "exec", dont_inherit=True)
            constants = self.values()
        except (SyntaxError, RecursionError, MemoryError):
            return None
        code = next((part for part in module.co_consts if isinstance(part, CodeType)), None)
        return CompiledFunction(code, constants, tuple(table), tuple(self._places))
