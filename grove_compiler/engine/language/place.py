"""Locates parts of rule and template files, and reports mistakes there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record
from grove_compiler.source.document import Document

Report = Callable[[str, int, FieldPath, str, str], None]
"""Receives a mistake: file, line, path in the document, message, and the word that was probably meant."""


@record
class RuleFile:
    """Represents one document of a rule or template file. `broken` tells whether a mistake was reported in it, `wrong_keys` at which keys.

    Its expressions are `metered` unless the file is built-in.
    """

    file: str
    document: Document | None
    report: Report
    metered: bool = False
    broken: bool = False
    wrong_keys: set[str | int] = field(default_factory=set)

    def line(self, path: FieldPath) -> int:
        """Returns the line of a path in the file, counted from 1; 1 for a file without a document."""
        return self.document.place(path)[0] if self.document else 1

    def fail(self, path: FieldPath, message: str, suggestion: str = "") -> None:
        """Reports a mistake at a path, and marks the document as broken."""
        self.broken = True
        self.wrong_keys |= {*path[:1], *([suggestion] if suggestion else [])}
        self.report(self.file, self.line(path), self.path_in_file(path), message, suggestion)

    def path_in_file(self, path: FieldPath) -> FieldPath:
        """Returns the path as it is in the file: a rule may be a part of a document."""
        return self.document.path_in_file(path) if self.document else path


@record
class SourceLocation:
    """Points to a part of a document. In a part of templates, `included` is the place that includes it."""

    file: RuleFile
    path: FieldPath
    included: SourceLocation | None = None

    @property
    def position(self) -> tuple[str, int]:
        """The file and the line."""
        return self.file.file, self.file.line(self.path)

    @property
    def broken(self) -> bool:
        """Reports whether a mistake was reported for the document, or for one that includes it."""
        return self.file.broken or (self.included is not None and self.included.broken)

    @property
    def written(self) -> tuple[str, int, str]:
        """The file, the line and the path as text."""
        return *self.position, render(self.file.path_in_file(self.path))

    def below(self, *steps: str | int) -> SourceLocation:
        """Returns the place of a part of this part."""
        return SourceLocation(self.file, (*self.path, *steps), self.included)

    def fail(self, message: str, suggestion: str = "") -> None:
        """Reports a mistake here. In an included part, the message names the includer too: names in a part are bound only there."""
        included, chain = self.included, ""
        while included:
            chain += f" (included by {included.position[0]}:{included.position[1]})"
            included.file.broken = True
            included = included.included
        self.file.fail(self.path, message + chain, suggestion)
