"""The file that a rule or a template stands in: turns paths of its document into lines, and takes mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grove_compiler.graph.field_path import FieldPath


@dataclass(slots=True, eq=False)
class RuleFile:
    """One document of one file. `broken` says whether a mistake was reported since it was made.

    What stands in it is `metered` unless it ships with the program.
    """

    file: str
    line_of: Callable[[FieldPath], int]
    report: Callable[[str, int, FieldPath, str, str], None]
    metered: bool = False
    broken: bool = False

    def line(self, path: FieldPath) -> int:
        """The line of a path in the file."""
        return self.line_of(path)

    def fail(self, path: FieldPath, message: str, suggestion: str = "") -> None:
        """Reports a mistake at a path."""
        self.broken = True
        self.report(self.file, self.line(path), path, message, suggestion)
